import { execFile, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { QuitReason } from "../../tui/app/front-ends/front-end.ts";
import { TerminalApp } from "../../tui/app/terminal-app.ts";
import { loadTheme } from "../../tui/app/theme-file.ts";
import { createInputHistory, type InputHistory } from "../../tui/app/input/history.ts";
import { ServerQuestions } from "../../tui/app/approvals/server-questions.ts";
import type { World } from "../../world/world.ts";
import { realTerminal } from "../../world/real/terminal.ts";
import type { Arguments } from "../command.ts";
import { parseArguments } from "../parse-arguments.ts";
import { chatCommand } from "./command.ts";
import { usageError } from "../user-error.ts";
import { defaultSearchPath } from "../../policy/shell/search-path.ts";
import { loadRunEnvironment } from "../run-environment.ts";
import { trustedEnvironment, withTrustedPrograms } from "../trusted-programs.ts";

/** `parley` with a terminal: runs the terminal UI. */
export const runInteractive = async (argv: readonly string[]): Promise<number> => {
  const addedFolders: string[] = [];
  const args = withFolders(parseArguments(chatCommand, argv), addedFolders);
  if (args.has("json-schema")) throw usageError('--json-schema needs a prompt: parley -p "TEXT" --json-schema FILE.');
  const exitSignals = watchExitSignals();
  const terminal = realTerminal();
  if (terminal === undefined) throw usageError('No terminal. Use parley -p "TEXT".');
  const environment = await loadRunEnvironment(args).catch(rethrowAsUserError);
  const { world, home, folder, loaded } = environment;
  const { settings } = loaded;
  const [first] = args.positionals;
  const history = withoutAdditions(createInputHistory(world, home.state, folder), args.has("no-save"));
  const createFrontEnd = settings["ui.screenReader"]
    ? await import("../../tui/app/front-ends/plain-lines.ts").then(
        ({ LineFrontEnd }): FrontEndFactory =>
          (host) =>
            new LineFrontEnd({ terminal, host, clock: world.clock }),
      )
    : await import("../../tui/app/front-ends/screen.ts").then(
        ({ ScreenFrontEnd }): FrontEndFactory =>
          (host, theme) =>
            new ScreenFrontEnd({
              terminal,
              world: withTrustedPrograms(world, folder),
              host,
              theme,
              notifications: settings["ui.notifications"],
              links: settings["ui.links"],
              vim: settings["ui.vim"],
              keyFile: () => world.files.read(`${home.config}/keys.json`),
              history: history.read,
            }),
      );
  const theme = await loadTheme(world, home, settings["ui.theme"]);
  const serverQuestions = new ServerQuestions(async (url) => {
    const { openInBrowser } = await import("./browser.ts");
    return openInBrowser({ ...world, env: await trustedEnvironment(world, folder) }, url);
  });
  const app = new TerminalApp(
    {
      terminal,
      world,
      home,
      folder,
      loaded,
      isSandboxed: args.has("sandbox") || settings.sandbox || settings.sandboxNetwork === "off",
      open: async (resume, model) => {
        const [fresh, { openChatSession }] = await Promise.all([loadRunEnvironment(args), import("./open-session.ts")]);
        const which = resume === undefined || resume === "new" ? {} : { resume };
        const sessionArgs = resume === undefined ? args : withoutSession(args);
        return {
          opened: await openChatSession(fresh, sessionArgs, {
            interactive: true,
            serverRequests: serverQuestions.handlers,
            confirm: serverQuestions.confirmContinue,
            askUser: serverQuestions.askUser,
            reviewPlan: serverQuestions.reviewPlan,
            onEvent: (event) => app.handleEvent(event),
            ...(args.has("no-save") ? {} : { watchCommand: (run) => app.watchCommand(run) }),
            ...which,
            ...(model === undefined ? {} : { model }),
          }),
          world: fresh.world,
          loaded: fresh.loaded,
        };
      },
      openCommandSnapshots: async ({ id, head }) => {
        const { openCommandSnapshots } = await import("./command-snapshots.ts");
        const { processes, env } = withTrustedPrograms(world, folder);
        const git = await processes.find("git", env["PATH"] ?? defaultSearchPath);
        return openCommandSnapshots({ home: home.data, root: head.root, session: id, git });
      },
      discard: async (id) => {
        if (args.has("no-save")) return;
        await (await import("../../session/store/store.ts")).openSessionStore(world, { home: home.data }).remove(id);
      },
      openEditor: async (text, name) =>
        editInExternalEditor(text, {
          name,
          program: settings.editor ?? "vi",
          env: await trustedEnvironment(world, folder),
        }),
      parley: runParley,
      addFolder: (path) => void addedFolders.push(path),
      login: runLogin,
      isSaved: !args.has("no-save"),
      theme,
      history,
      serverQuestions,
      choosesSession: args.value("resume") === "",
      ...(first === undefined ? {} : { initialPrompt: first }),
    },
    createFrontEnd,
  );
  exitSignals.listen((reason) => app.quit(reason));
  const reason = await app.run().catch(rethrowAsUserError);
  return reason === undefined ? 0 : exitCodes[reason];
};

/** Watches for SIGHUP, SIGTERM and a closed terminal, also before the UI has started and while an editor runs. */
const watchExitSignals = (): { readonly listen: (listener: (reason: QuitReason) => void) => void } => {
  let first: QuitReason | undefined;
  let notify = (reason: QuitReason): void => void (first ??= reason);
  process.on("SIGHUP", () => notify("hang-up"));
  process.on("SIGTERM", () => notify("terminate"));
  // A failed write to a closed terminal must not end the process before the session is saved.
  for (const stream of [process.stdout, process.stderr])
    stream.removeAllListeners("error").on("error", () => notify("hang-up"));
  return {
    listen: (listener) => {
      notify = listener;
      if (first !== undefined) listener(first);
    },
  };
};

/** As in shells: 128 plus the signal number. */
const exitCodes: { readonly [reason in QuitReason]: number } = { "hang-up": 129, terminate: 143 };

/** Loads the error conversion only when needed. */
const rethrowAsUserError = async (error: unknown): Promise<never> =>
  (await import("./open-session.ts")).rethrowAsUserError(error);

type FrontEndFactory = ConstructorParameters<typeof TerminalApp>[1];

/** The same history, to which nothing is added if the session is not saved. */
const withoutAdditions = (history: InputHistory, isUnsaved: boolean): InputHistory =>
  isUnsaved ? { ...history, add: () => undefined } : history;

/** Returns the same arguments with more folders for the workspace. */
const withFolders = (args: Arguments, folders: readonly string[]): Arguments => ({
  ...args,
  values: (option) => (option === "add-dir" ? [...args.values(option), ...folders] : args.values(option)),
});

/** Returns the same arguments without --continue, --resume and --fork. */
const withoutSession = (args: Arguments): Arguments => ({
  ...args,
  has: (option) => !/^(continue|resume|fork)$/.test(option) && args.has(option),
  value: (option) => (option === "resume" ? undefined : args.value(option)),
});

/** Runs Parley with these arguments and resolves to its output. */
const runParley = (argv: readonly string[], signal?: AbortSignal): Promise<string> =>
  new Promise((resolve) => {
    const [, program = ""] = process.argv;
    execFile(process.execPath, [program, ...argv], { encoding: "utf8", signal }, (_, out, err) => resolve(out + err));
  });

/**
 * Runs `parley login` in this terminal: the key is typed there, and never reaches the input or its history. The terminal
 * shows nothing that is typed until the program has read the key, as people paste before the question is there.
 */
const runLogin = (args: readonly string[]): Promise<number> =>
  new Promise((resolve, reject) => {
    const [, program = ""] = process.argv;
    const showInput = (): void => void process.stdin.setRawMode(false);
    process.stdin.setRawMode(args[0] !== "code-assist");
    const child = spawn(process.execPath, [program, "login", ...args], {
      stdio: ["inherit", "inherit", "inherit", "ipc"],
    });
    child.on("message", showInput);
    child.on("error", reject);
    child.on("exit", (code) => {
      showInput();
      resolve(code ?? 1);
    });
  });

/** Opens a text in the user's editor. Resolves to undefined if it was not changed. */
const editInExternalEditor = async (
  text: string,
  { name, program, env }: { readonly name: string; readonly program: string; readonly env: World["env"] },
): Promise<string | undefined> => {
  const folder = await mkdtemp(join(tmpdir(), "parley-edit-"));
  const file = join(folder, basename(name));
  try {
    await writeFile(file, text, { mode: 0o600 });
    const [command = "vi", ...commandArgs] = program.split(/\s+/).filter((word) => word !== "");
    await new Promise<void>((resolve, reject) => {
      const child = spawn(command, [...commandArgs, file], { stdio: "inherit", env });
      child.on("error", reject);
      child.on("exit", () => resolve());
    });
    const edited = await readFile(file, "utf8");
    return edited === text ? undefined : edited;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
