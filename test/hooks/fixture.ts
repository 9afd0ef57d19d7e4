import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync, existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openAgent, type AgentSession } from "../../src/agent/open-agent.ts";
import type { AgentEvent } from "../../src/agent/events.ts";
import type { OpenAgentOptions } from "../../src/agent/options.ts";
import type { DemoScript } from "../../src/offline/script/script.ts";
import { openTrustStore } from "../../src/policy/trust/folders.ts";
import type { HookSettings } from "../../src/settings/schema/values.ts";
import { realWorld } from "../../src/world/real/world.ts";

/** A project with hooks, a home folder, and a log that hooks write to. */
export type HookStage = {
  readonly base: string;
  readonly home: string;
  readonly work: string;
  /** A command that appends its input to the log. */
  readonly logs: string;
  /** The inputs of hooks so far. */
  readonly log: () => readonly HookInput[];
  /** Writes the settings of the person. */
  readonly settings: (settings: object) => void;
  readonly put: (path: string, text: string) => string;
  readonly trust: () => Promise<void>;
  readonly open: (options?: Partial<OpenAgentOptions>) => Promise<AgentSession & { readonly events: AgentEvent[] }>;
  readonly remove: () => void;
};

/** The input of a hook, as it was printed. */
type HookInput = { readonly [field: string]: unknown };

/** Creates a stage whose demo model follows a script. */
export const openHookStage = (script: DemoScript): HookStage => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "parley-hooks-")));
  const [home, work, file] = [join(base, "home"), join(base, "work"), join(base, "log.jsonl")];
  for (const folder of [home, work]) mkdirSync(folder);
  const put = (path: string, text: string): string => {
    const whole = join(base, path);
    mkdirSync(join(whole, ".."), { recursive: true });
    writeFileSync(whole, text);
    return whole;
  };
  put("script.json", JSON.stringify(script));
  const settings = (given: object): void =>
    void put(
      "home/settings.json",
      JSON.stringify({ model: "offline", offline: { script: join(base, "script.json") }, ...given }),
    );
  settings({});
  return {
    base,
    home,
    work,
    logs: `{ cat; echo; } >> '${file}'`,
    log: () =>
      existsSync(file)
        ? readFileSync(file, "utf8")
            .split("\n")
            .filter((line) => line !== "")
            .map((line) => JSON.parse(line) as HookInput)
        : [],
    settings,
    put,
    trust: () => openTrustStore(realWorld().disk, home).trustFolder(work),
    open: async (options = {}) => {
      const events: AgentEvent[] = [];
      const onEvent = (event: AgentEvent): void => void events.push(event);
      return { ...(await openAgent({ folder: work, home, onEvent, ...options })), events };
    },
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
};

/** Hooks of one command for an event. */
export const hooksFor = (event: string, command: string, more: object = {}, matcher?: string): HookSettings =>
  ({
    [event]: [{ ...(matcher === undefined ? {} : { matcher }), hooks: [{ type: "command", command, ...more }] }],
  }) as HookSettings;

/** Runs a turn and returns its events. */
export const play = async (session: AgentSession, prompt = "go"): Promise<readonly AgentEvent[]> => {
  const events: AgentEvent[] = [];
  for await (const event of session.agent.send(prompt)) events.push(event);
  return events;
};
