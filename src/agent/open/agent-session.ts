import { text as textPart } from "../../conversation/builders.ts";
import { PolicyError } from "../../policy/error.ts";
import { loadPool, singleModelPool } from "../models/choose.ts";
import type { AgentSession } from "../open-agent.ts";
import type { SessionParts, AssembledAgent } from "./assemble-agent.ts";

/** The session as a program sees it: its agent, its notes, and how it closes. */
export const toAgentSession = <Output>(
  {
    options,
    models: { choice },
    plugins,
    subagents,
    skills,
    connected,
    started,
    pool,
    hooks: found,
    consents,
  }: SessionParts,
  { agent, toolbox, work, hooks }: AssembledAgent,
  closing: AbortController,
): AgentSession<Output> => {
  const { world, folder, loaded } = options;
  const { session, journal, prefix, notes, warnings } = started;
  const { servers } = connected;
  const releaseConnections = world.net.acquire?.();
  return {
    agent,
    session,
    ask: async (input, signal) =>
      (await import("../ask.ts")).askAgent(agent, { input, hasOutput: options.output !== undefined }, signal),
    switchModel: async (model) => {
      const result = await agent.switchModel(
        typeof model === "string" ? await loadPool(model, loaded.settings.pools, world.env) : singleModelPool(model),
      );
      if (!result.isSwitched) throw new PolicyError("policy_violation", result.reason);
    },
    modelChoice: { by: pool === choice.pool ? choice.by : "named", pool },
    notes: [
      ...homeFolderWarning(folder, world.host.home),
      ...loaded.warnings,
      ...(choice.note === undefined || pool !== choice.pool ? [] : [choice.note]),
      ...notes,
      ...consents.notes,
      ...(plugins?.notes ?? []),
      ...subagents.notes,
      ...skills.notes,
      ...connected.notes,
      ...(found?.notes ?? []),
    ],
    warnings,
    contextFiles: started.contextFiles ?? [],
    agents: subagents.agents,
    skills: skills.current,
    plugins,
    servers,
    todos: () => work.todos,
    tasks: () => work.tasks,
    attach: async (message, signal) => {
      const change = await skills.refresh(() => ({
        system: prefix.system ?? "",
        entries: agent.conversation().entries,
      }));
      if (change !== undefined) agent.addNotice(change);
      if (!message.includes("@")) return { parts: [textPart(message)], messages: [] };
      const { resolveMentions } = await import("../session/mentions.ts");
      const { workspace } = await toolbox.services();
      const { parts, blobs, messages } = await resolveMentions(message, {
        disk: world.disk,
        workspace,
        servers,
        signal,
      });
      journal.addBlobs(blobs);
      return { parts, messages };
    },
    addBlobs: (blobs) => journal.addBlobs(blobs),
    services: () => toolbox.services(),
    close: async () => {
      closing.abort();
      try {
        await hooks?.end("other");
        await work.close();
        await servers?.close();
        await toolbox.close();
        await session.close();
      } finally {
        releaseConnections?.();
      }
    },
  };
};

/** A warning if the workspace is the home folder or contains it. */
const homeFolderWarning = (folder: string, home: string): readonly string[] =>
  folder === home || folder === "/" || home.startsWith(`${folder}/`)
    ? [
        `The workspace is ${folder}, which holds your home folder: the model can read and change what is in it. Known places with keys, such as ~/.ssh, are left out. Start Parley in a project instead.`,
      ]
    : [];
