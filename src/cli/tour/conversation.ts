import type { Agent } from "../../agent/agent.ts";
import type { AgentEvent } from "../../agent/events.ts";
import { openAgent } from "../../agent/open-agent.ts";
import type { Conversation } from "../../conversation/entry.ts";
import { loadSettings, type LoadedSettings } from "../../settings/load/load.ts";
import type { World } from "../../world/world.ts";
import type { TourProject } from "./project.ts";
import { prompts, firstProvider } from "./script.ts";

/** Where the conversation takes place, and who watches. */
export type TourConversationOptions = {
  readonly world: World;
  readonly project: TourProject;
  readonly signal: AbortSignal;
  readonly onEvent?: (event: AgentEvent) => void;
  /** Told when the person stops the calls that still run. */
  readonly onCancel?: (running: number) => void;
};

/** Holds the conversation of the tour: a session like any other, with a person who allows what is asked and once loses patience. */
export const holdConversation = async ({
  world,
  project,
  signal,
  onEvent: listen,
  onCancel: stopping,
}: TourConversationOptions): Promise<Conversation> => {
  const opened = await openAgent({
    world,
    home: project.home,
    folder: project.folder,
    loaded: await loadTourSettings(world, project),
    interactive: true,
    ...(listen === undefined ? {} : { onEvent: listen }),
  });
  try {
    const { agent } = opened;
    await approveAndCancelSlowCalls(agent, agent.send(prompts.first, signal), stopping);
    for await (const _ of agent.send(prompts.second, signal));
    return agent.conversation();
  } finally {
    await opened.close();
  }
};

/** What a new person has, but for the model, which is asked to think. */
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

/** Allows every command, and stops the turn as soon as one call of several has ended and all others run. */
const approveAndCancelSlowCalls = async (
  agent: Agent,
  turn: AsyncIterable<AgentEvent>,
  stopping: TourConversationOptions["onCancel"],
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
    stopping?.(running.size);
    // From here on calls end because of this.
    calls = 0;
    void agent.cancel();
  }
};
