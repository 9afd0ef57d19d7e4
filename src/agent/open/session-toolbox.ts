import type { Agent } from "../agent.ts";
import { SpendingTracker } from "../models/spending.ts";
import type { SharedAgentOptions } from "../options.ts";
import { createModelCapability } from "../requests/model-capability.ts";
import { runSideQuery, textQuery } from "../requests/side-query.ts";
import { SessionWork } from "../session/work.ts";
import { SubagentRunner } from "../subagents/run.ts";
import type { Toolbox } from "../toolbox.ts";
import type { SessionParts } from "./assemble-agent.ts";
import type { FoundHooks } from "./find-extensions.ts";

/** The agent that tools and subagents work for. */
type ToolOwner = {
  readonly agent: Agent;
  readonly shared: SharedAgentOptions;
  readonly spending: SpendingTracker;
  readonly subagents: SubagentRunner;
  readonly work: SessionWork;
  readonly hooks: ReturnType<FoundHooks["createSessionHooks"]> | undefined;
};

/** Opens the tools of a session, when the first calls need them. */
export const openSessionToolbox = async (
  {
    options,
    models: { transport },
    plugins,
    subagents: { agents },
    skills,
    connected: { servers, allow },
    started,
    consents,
  }: SessionParts,
  { agent, shared, spending, subagents, work, hooks }: ToolOwner,
): Promise<Toolbox> => {
  const { session, prefix } = started;
  const { settings } = options.loaded;
  const { openToolbox } = await import("../toolbox.ts");
  const toolbox = await openToolbox({
    options,
    sessionId: session.id,
    agents,
    skills: skills.current().length === 0 ? undefined : skills,
    plugins,
    servers,
    allow,
    sessionRules: {
      initial: consents.rules,
      record: async (change) =>
        (await import("../session/consents.ts")).recordConsent(options, { session, journal: started.journal }, change),
    },
    work,
    hooks: hooks?.main.calls,
    model: createModelCapability(options.world, session.id, (prompt, signal) =>
      runSideQuery(transport, agent.model(), textQuery(prompt), signal),
    ),
    createRunTask: ({ schedulerFor }) =>
      subagents.createTaskRunner({
        ...shared,
        open: options,
        parentId: session.id,
        tools: prefix.tools,
        schedulerFor,
        model: agent.model,
        spending,
        spend: settings["limits.spend"],
        turns: settings["limits.maxTurns"],
        emit: agent.emit,
        hooksFor: hooks?.forSubagent,
      }),
  });
  // For example that there is no sandbox.
  for (const text of toolbox.services.notes) agent.emit({ type: "notice", text });
  return toolbox;
};
