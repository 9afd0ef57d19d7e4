import { execFile, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { QuitReason } from "../../tui/app/front-ends/front-end.ts";
import { TerminalApp } from "../../tui/app/terminal-app.ts";
import { createInputHistory } from "../../tui/app/input/history.ts";
import { ServerQuestions } from "../../tui/app/approvals/server-questions.ts";
import type { World } from "../../world/world.ts";
import { realTerminal } from "../../world/real/terminal.ts";
import { parseArguments, type Arguments } from "../parse-arguments.ts";
import { chatCommand } from "./command.ts";
import { usageError } from "../user-error.ts";
import { loadRunEnvironment } from "../run-environment.ts";
import { trustedEnvironment, withTrustedPrograms } from "../trusted-programs.ts";

/** `parley` with a terminal: the interface. */
export const runInteractive = async (args: readonly string[]): Promise<number> => {
  const given = parseArguments(chatCommand, args);
  const leaving = watchExitSignals();
  const there = realTerminal();
  if (there === undefined) throw usageError('There is no terminal here. Give a task with parley -p "TEXT".');
  const prepared = await loadRunEnvironment(given).catch(rethrowAsUserError);
  const { world, home, folder, loaded } = prepared;
  const { settings } = loaded;
  const [first] = given.positionals;
  const history = createInputHistory(world, home);
  const frontFor = settings["ui.screenReader"]
    ? await import("../../tui/app/front-ends/plain-lines.ts").then(
        ({ LineFrontEnd }): FrontEndFactory =>
          (host) =>
            new LineFrontEnd({ terminal: there, host, clock: world.clock }),
      )
    : await import("../../tui/app/front-ends/screen.ts").then(
        ({ ScreenFrontEnd }): FrontEndFactory =>
          (host, theme) =>
            new ScreenFrontEnd({
              terminal: there,
              world: withTrustedPrograms(world, folder),
              host,
              theme,
              history: history.read,
            }),
      );
  const desk = new ServerQuestions(async (url) => {
    const { openInBrowser } = await import("./browser.ts");
    return openInBrowser({ ...world, env: await trustedEnvironment(world, folder) }, url);
  });
  const app = new TerminalApp(
    {
      terminal: there,
      world,
      home,
      folder,
      loaded,
      isSandboxed: given.has("sandbox") || settings.sandbox || settings.sandboxNetwork === "off",
      open: async (resume) => {
        const [fresh, { openChatSession }] = await Promise.all([
          loadRunEnvironment(given),
          import("./open-session.ts"),
        ]);
        const which = resume === undefined || resume === "new" ? {} : { resume };
        const asked = resume === "new" ? withoutSession(given) : given;
        return {
          opened: await openChatSession(fresh, asked, {
            interactive: true,
            serverRequests: desk.handlers,
            confirm: desk.confirmContinue,
            ...which,
          }),
          loaded: fresh.loaded,
        };
      },
      discard: async (id) =>
        (await import("../../session/store/store.ts")).openSessionStore(world, { home }).remove(id),
      openEditor: async (text, name) =>
        editInExternalEditor(text, {
          name,
          program: settings.editor ?? "vi",
          env: await trustedEnvironment(world, folder),
        }),
      doctor: () => runParley(["doctor"]),
      history,
      serverQuestions: desk,
      ...(first === undefined ? {} : { initialPrompt: first }),
    },
    frontFor,
  );
  leaving.listen((why) => app.quit(why));
  const reason = await app.run().catch(rethrowAsUserError);
  return reason === undefined ? 0 : exitCodes[reason];
};

/** Hears what ends the interface, also before it is there and while an editor has the terminal. */
const watchExitSignals = (): { readonly listen: (listener: (reason: QuitReason) => void) => void } => {
  let first: QuitReason | undefined;
  let tell = (reason: QuitReason): void => void (first ??= reason);
  process.on("SIGHUP", () => tell("hang-up"));
  process.on("SIGTERM", () => tell("terminate"));
  // What cannot be written to a terminal that is gone must not end the program before it has kept what must be kept.
  for (const stream of [process.stdout, process.stderr])
    stream.removeAllListeners("error").on("error", () => tell("hang-up"));
  return {
    listen: (listener) => {
      tell = listener;
      if (first !== undefined) listener(first);
    },
  };
};

/** As a shell tells of a program that a signal ended: 128 and the number of the signal. */
const exitCodes: { readonly [reason in QuitReason]: number } = { "hang-up": 129, terminate: 143 };

/** What a person can put right is said as such. */
const rethrowAsUserError = async (error: unknown): Promise<never> =>
  (await import("./open-session.ts")).rethrowAsUserError(error);

type FrontEndFactory = ConstructorParameters<typeof TerminalApp>[1];

/** The same words without the session they name. */
const withoutSession = (given: Arguments): Arguments => ({
  ...given,
  has: (option) => option !== "continue" && given.has(option),
  value: (option) => (option === "resume" ? undefined : given.value(option)),
});

/** What the program itself prints when it is given these words. */
const runParley = (words: readonly string[]): Promise<string> =>
  new Promise((resolve) => {
    const [, program = ""] = process.argv;
    execFile(process.execPath, [program, ...words], { encoding: "utf8" }, (_, out, err) => resolve(out + err));
  });

/** Runs the person's own editor on a text; undefined where it was left unchanged. */
const editInExternalEditor = async (
  text: string,
  { name, program, env }: { readonly name: string; readonly program: string; readonly env: World["env"] },
): Promise<string | undefined> => {
  const folder = await mkdtemp(join(tmpdir(), "parley-edit-"));
  const file = join(folder, basename(name));
  try {
    await writeFile(file, text, { mode: 0o600 });
    const [command = "vi", ...words] = program.split(/\s+/).filter((word) => word !== "");
    await new Promise<void>((resolve, reject) => {
      const child = spawn(command, [...words, file], { stdio: "inherit", env });
      child.on("error", reject);
      child.on("exit", () => resolve());
    });
    const edited = await readFile(file, "utf8");
    return edited === text ? undefined : edited;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
