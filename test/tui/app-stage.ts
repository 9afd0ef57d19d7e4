import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach } from "vitest";
import { openTrust } from "../../src/policy/trust.ts";
import type { OfflineScript } from "../../src/offline/script.ts";
import { realWorld } from "../../src/world/real.ts";
import type { TerminalSize } from "../../src/world/terminal.ts";
import { bin } from "../built.ts";
import { inTerminal, type InTerminal } from "./terminal.ts";

/** How the program is started. */
export type StageOptions = {
  /** Files of the project, by path. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** What the offline model says. */
  readonly script?: OfflineScript;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  readonly size?: TerminalSize;
  readonly isTrusted?: boolean;
  readonly isInShell?: boolean;
  readonly breaksAnew?: boolean;
};

/** A project, a home and everything that runs there. */
export type Stage = {
  readonly project: string;
  readonly home: string;
  /** Starts the program as people run it. */
  readonly start: (options?: Pick<StageOptions, "env" | "args" | "size" | "isInShell">) => App;
  readonly read: (path: string) => string;
  readonly remove: () => void;
};

/** The program in a real pseudo-terminal. */
export type App = InTerminal & {
  /** Resolves once a row holds these words. */
  readonly sees: (words: string | RegExp) => Promise<readonly string[]>;
  /** Resolves once the program waits for the next message. */
  readonly idle: () => Promise<readonly string[]>;
  /** Types a message and sends it. */
  readonly submit: (text: string) => void;
  /** All rows seen, without what differs from run to run: folders, times, the mark that moves. */
  readonly picture: () => string;
  readonly quit: () => Promise<number>;
};

/** Milliseconds after which what was not seen is taken to never come; the rows are then told. */
const patience = 60_000;

/** Where nobody is asked about anything outside this machine. */
const nowhere = { METADATA_SERVER_DETECTION: "none", AWS_EC2_METADATA_DISABLED: "true" };

/** Sets up a project and a home that nobody has used. */
const stage = async ({ files = {}, script, isTrusted = true, ...first }: StageOptions = {}): Promise<Stage> => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "parley-app-")));
  const [home, project] = [join(base, "home"), join(base, "project")];
  for (const folder of [home, project]) mkdirSync(folder);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), content);
  }
  const scriptFile = join(base, "script.json");
  if (script !== undefined) writeFileSync(scriptFile, JSON.stringify(script));
  if (isTrusted) await openTrust(realWorld().disk, join(home, ".parley")).trust(project);
  const running = new Set<App>();
  return {
    project,
    home,
    start: (options = {}) => {
      const app = appIn(project, {
        ...first,
        ...options,
        env: {
          ...nowhere,
          HOME: home,
          ...(script === undefined ? {} : { PARLEY_OFFLINE_SCRIPT: scriptFile }),
          ...first.env,
          ...options.env,
        },
      });
      running.add(app);
      return app;
    },
    read: (path) => readFileSync(join(project, path), "utf8"),
    remove: () => {
      for (const app of running) app.kill("SIGKILL");
      rmSync(base, { recursive: true, force: true });
    },
  };
};

const appIn = (
  project: string,
  { args = [], env, size = { columns: 80, rows: 24 }, isInShell = false, breaksAnew = true }: StageOptions,
): App => {
  const terminal = inTerminal(bin, {
    args: ["--cwd", project, ...args],
    size,
    isInShell,
    breaksAnew,
    ...(env === undefined ? {} : { env }),
  });
  const seen: InTerminal["seen"] = async (condition) => {
    const late = setTimeout(() => terminal.kill("SIGKILL"), patience);
    return terminal.seen(condition).finally(() => clearTimeout(late));
  };
  const sees = (words: string | RegExp): Promise<readonly string[]> =>
    seen((rows) => rows.some((row) => (typeof words === "string" ? row.includes(words) : words.test(row))));
  return {
    ...terminal,
    seen,
    sees,
    idle: () =>
      seen(
        (rows) =>
          /^> (?:Ask for something, or )?\/help$/.test(rows.at(-2) ?? "") && !/Esc to cancel/.test(rows.at(-3) ?? ""),
      ),
    submit: (text) => terminal.type(`${text}\r`),
    picture: () =>
      `${terminal.screen
        .rows()
        .join("\n")
        .replaceAll(project, "/home/you/project")
        .replaceAll(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/g, "⠋")
        .replaceAll(/\(\d+s · Esc/g, "(0s · Esc")
        .replaceAll(/^([?◐○✓✗⊘] .*) \d+s$/gm, "$1")}\n`,
    quit: async () => {
      terminal.type("\u0003/quit\r");
      return (await terminal.ended).code;
    },
  };
};

/** Stages for the tests of one file; each is taken down after its test. */
export const stages = (): {
  readonly on: (options?: StageOptions) => Promise<Stage>;
  /** A stage with the program ready for the first word. */
  readonly started: (options?: StageOptions) => Promise<readonly [App, Stage]>;
} => {
  const made: Stage[] = [];
  afterEach(() => {
    for (const each of made.splice(0)) each.remove();
  });
  const on = async (options: StageOptions = {}): Promise<Stage> => {
    const fresh = await stage(options);
    made.push(fresh);
    return fresh;
  };
  return {
    on,
    started: async (options) => {
      const fresh = await on(options);
      const app = fresh.start();
      await app.sees(/ · \d+% of \d/);
      return [app, fresh];
    },
  };
};
