import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach } from "vitest";
import { openTrustStore } from "../../src/policy/trust/folders.ts";
import type { DemoScript } from "../../src/offline/script/script.ts";
import { realWorld } from "../../src/world/real/world.ts";
import type { TerminalSize } from "../../src/world/terminal.ts";
import { bin } from "../built.ts";
import { runInTerminal, type TerminalProcess } from "./terminal.ts";

/** How the program is started. */
export type AppOptions = {
  /** Files of the project, by path. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** Scripted replies of the demo model. */
  readonly script?: DemoScript;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  readonly size?: TerminalSize;
  readonly isTrusted?: boolean;
  readonly isInShell?: boolean;
  readonly isInTmux?: boolean;
  readonly reflows?: boolean;
};

/** A project and home folder, and the programs running there. */
export type AppFixture = {
  readonly project: string;
  readonly home: string;
  /** Starts the program as people run it. */
  readonly start: (options?: Pick<AppOptions, "env" | "args" | "size" | "isInShell">) => RunningApp;
  readonly read: (path: string) => string;
  readonly remove: () => void;
};

/** The program in a real pseudo-terminal. */
export type RunningApp = TerminalProcess & {
  /** Resolves once a row contains this text. */
  readonly waitForText: (words: string | RegExp) => Promise<readonly string[]>;
  /** Resolves once a question is on the screen completely. A terminal may get a frame in pieces. */
  readonly waitForQuestion: () => Promise<readonly string[]>;
  /** Resolves once the program waits for the next message. */
  readonly waitUntilIdle: () => Promise<readonly string[]>;
  /** Types a message and sends it. */
  readonly submit: (text: string) => void;
  /** The visible rows, with folders, times and spinner frames normalized. */
  readonly screenText: () => string;
  readonly quit: () => Promise<number>;
};

/** A line of the frame around the input. */
export const rule = (columns: number): string => "─".repeat(columns);

/** Milliseconds after which a wait fails and shows the rows. */
const timeout = Number(process.env["PARLEY_TEST_WAIT"] ?? 60_000);

/** Keeps credential lookups on this machine, and servers of local models that run there out of the tests. */
const noMetadataServers = {
  METADATA_SERVER_DETECTION: "none",
  AWS_EC2_METADATA_DISABLED: "true",
  PARLEY_LOCAL_BASE_URL: "http://127.0.0.1:9/v1",
};

/** Creates a fresh project and home folder. */
const createFixture = async ({
  files = {},
  script,
  isTrusted = true,
  ...first
}: AppOptions = {}): Promise<AppFixture> => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "parley-app-")));
  const [home, project] = [join(base, "home"), join(base, "project")];
  for (const folder of [home, project]) mkdirSync(folder);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), content);
  }
  const scriptFile = join(base, "script.json");
  if (script !== undefined) writeFileSync(scriptFile, JSON.stringify(script));
  if (isTrusted) await openTrustStore(realWorld().disk, join(home, ".parley")).trustFolder(project);
  const running = new Set<RunningApp>();
  return {
    project,
    home,
    start: (options = {}) => {
      const app = startApp(project, {
        ...first,
        ...options,
        env: {
          ...noMetadataServers,
          HOME: home,
          // Turns of a test take longer on a busy machine.
          PARLEY_TURN_SUMMARY: "false",
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
      if (first.isInTmux === true) spawnSync("tmux", ["-S", join(base, "tmux.sock"), "kill-server"]);
      for (const app of running) app.kill("SIGKILL");
      rmSync(base, { recursive: true, force: true });
    },
  };
};

/** Replaces the folder, times and spinner frames of a screen. */
export const normalizeScreen = (screen: string, project: string): string =>
  screen
    .replaceAll(project, "/home/you/project")
    .replaceAll(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/g, "⠋")
    .replaceAll(/\(\d+s · Esc/g, "(0s · Esc")
    .replaceAll(/^([?◐○✓✗⊘] .*) \d+s$/gm, "$1");

const startApp = (
  project: string,
  { args = [], env, size = { columns: 80, rows: 24 }, isInShell = false, isInTmux = false, reflows = true }: AppOptions,
): RunningApp => {
  const terminal = runInTerminal(bin, {
    args: ["--cwd", project, ...args],
    size,
    isInShell,
    breaksAnew: reflows,
    ...(isInTmux ? { tmux: dirname(project) } : {}),
    ...(env === undefined ? {} : { env }),
  });
  const seen: TerminalProcess["waitFor"] = async (condition) => {
    const late = setTimeout(() => terminal.kill("SIGKILL"), timeout);
    return terminal.waitFor(condition).finally(() => clearTimeout(late));
  };
  const sees = (words: string | RegExp): Promise<readonly string[]> =>
    seen((rows) => rows.some((row) => (typeof words === "string" ? row.includes(words) : words.test(row))));
  return {
    ...terminal,
    waitFor: seen,
    waitForText: sees,
    waitForQuestion: () =>
      seen((rows) => {
        const end = rows.findIndex((row) => /^╰─.*─╯$/.test(row));
        return end > 0 && / (?:plan|default|auto_edit|yolo)$/.test(rows[end + 1] ?? "");
      }),
    waitUntilIdle: () =>
      seen(
        (rows) =>
          /^> (?:Ask for something, .*)?\? for keys$/.test(rows.at(-3) ?? "") &&
          !/Esc to cancel/.test(rows.at(-5) ?? ""),
      ),
    submit: (text) => terminal.type(`${text}\r`),
    screenText: () => `${normalizeScreen(terminal.screen.rows().join("\n"), project)}\n`,
    quit: async () => {
      terminal.type("\u0003/quit\r");
      return (await terminal.ended).code;
    },
  };
};

/** Fixtures for the tests of one file; each is removed after its test. */
export const appFixtures = (): {
  readonly on: (options?: AppOptions) => Promise<AppFixture>;
  /** A fixture with the program ready for input. */
  readonly started: (options?: AppOptions) => Promise<readonly [RunningApp, AppFixture]>;
} => {
  const made: AppFixture[] = [];
  afterEach(() => {
    for (const each of made.splice(0)) each.remove();
  });
  const on = async (options: AppOptions = {}): Promise<AppFixture> => {
    const fresh = await createFixture(options);
    made.push(fresh);
    return fresh;
  };
  return {
    on,
    started: async (options) => {
      const fresh = await on(options);
      const app = fresh.start();
      await app.waitForText(/ · \d+% of \d/);
      return [app, fresh];
    },
  };
};
