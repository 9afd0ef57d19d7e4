import type { Agent } from "../../agent/agent.ts";
import type { AgentEvent } from "../../agent/events.ts";
import { openAgent } from "../../agent/open-agent.ts";
import type { Conversation } from "../../conversation/entry.ts";
import { loadSettings, type LoadedSettings } from "../../settings/load/load.ts";
import type { World } from "../../world/world.ts";
import type { TourProject } from "./project.ts";
import { prompts, firstProvider } from "./script.ts";

/** Options of the conversation. */
export type TourConversationOptions = {
  readonly world: World;
  readonly project: TourProject;
  readonly signal: AbortSignal;
  readonly onEvent?: (event: AgentEvent) => void;
  /** Called with the number of running calls when the user cancels. */
  readonly onCancel?: (running: number) => void;
};

/** Runs the conversation of the tour as an ordinary session. The simulated user approves every call and cancels once. */
export const holdConversation = async ({
  world,
  project,
  signal,
  onEvent,
  onCancel,
}: TourConversationOptions): Promise<Conversation> => {
  const opened = await openAgent({
    world,
    home: project.home,
    folder: project.folder,
    loaded: await loadTourSettings(world, project),
    interactive: true,
    ...(onEvent === undefined ? {} : { onEvent }),
  });
  try {
    const { agent } = opened;
    await approveAndCancelSlowCalls(agent, agent.send(prompts.first, signal), onCancel);
    for await (const _ of agent.send(prompts.second, signal));
    return agent.conversation();
  } finally {
    await opened.close();
  }
};

/** Loads the default settings, with thinking enabled. */
const loadTourSettings = async (
  world: World,
  { home: own, folder }: Pick<TourProject, "home" | "folder">,
): Promise<LoadedSettings> => {
  const loaded = await loadSettings(world, {
    home: own,
    root: folder,
    scope: "inert",
    flags: { model: firstProvider },
  });
  return { ...loaded, settings: { ...loaded.settings, thinking: "medium" } };
};

/** Approves every call, and cancels the turn once one of several calls has ended and all others run. */
const approveAndCancelSlowCalls = async (
  agent: Agent,
  turn: AsyncIterable<AgentEvent>,
  onCancel: TourConversationOptions["onCancel"],
): Promise<void> => {
  const running = new Set<string>();
  let [calls, ended] = [0, 0];
  for await (const event of turn) {
    if (event.type === "message") [calls, ended] = [0, 0];
    if (event.type === "call-requested") calls += 1;
    if (event.type === "call-updated" && event.status.state === "awaiting_approval")
      agent.decide(event.call, { type: "once" });
    if (event.type === "call-updated" && event.status.state === "executing") running.add(event.call);
    if (event.type === "call-completed") {
      running.delete(event.finished.call.id);
      ended += 1;
    }
    if (calls < 2 || ended === 0 || running.size < calls - ended || running.size === 0) continue;
    onCancel?.(running.size);
    // Calls that end from here on were cancelled.
    calls = 0;
    void agent.cancel();
  }
};
