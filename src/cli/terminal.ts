import { execFile, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { LeaveReason } from "../tui/app/front.ts";
import { Interface } from "../tui/app/interface.ts";
import { inputHistory } from "../tui/app/history.ts";
import { ServerDesk } from "../tui/app/server-desk.ts";
import type { World } from "../world/world.ts";
import { realTerminal } from "../world/real-terminal.ts";
import { readArguments, type Arguments } from "./arguments.ts";
import { chat } from "./chat-command.ts";
import { misused } from "./failure.ts";
import { prepare } from "./preparing.ts";
import { trustedEnvironment, withTrustedPrograms } from "./trusted-programs.ts";

/** `parley` with a terminal: the interface. */
export const terminal = async (args: readonly string[]): Promise<number> => {
  const given = readArguments(chat, args);
  const leaving = watchSignals();
  const there = realTerminal();
  if (there === undefined) throw misused('There is no terminal here. Give a task with parley -p "TEXT".');
  const prepared = await prepare(given).catch(refused);
  const { world, home, folder, loaded } = prepared;
  const { settings } = loaded;
  const [first] = given.words;
  const history = inputHistory(world, home);
  const frontFor = settings["ui.screenReader"]
    ? await import("../tui/app/line-front.ts").then(
        ({ LineFront }): Maker =>
          (host) =>
            new LineFront({ terminal: there, host, clock: world.clock }),
      )
    : await import("../tui/app/screen-front.ts").then(
        ({ ScreenFront }): Maker =>
          (host, theme) =>
            new ScreenFront({
              terminal: there,
              world: withTrustedPrograms(world, folder),
              host,
              theme,
              history: history.read,
            }),
      );
  const desk = new ServerDesk(async (url) => {
    const { openInBrowser } = await import("./browser.ts");
    return openInBrowser({ ...world, env: await trustedEnvironment(world, folder) }, url);
  });
  const app = new Interface(
    {
      terminal: there,
      world,
      home,
      folder,
      loaded,
      isSandboxed: given.has("sandbox") || settings.sandbox || settings.sandboxNetwork === "off",
      open: async (resume) => {
        const [fresh, { openSession }] = await Promise.all([prepare(given), import("./opening.ts")]);
        const which = resume === undefined || resume === "new" ? {} : { resume };
        const asked = resume === "new" ? withoutSession(given) : given;
        return {
          opened: await openSession(fresh, asked, {
            interactive: true,
            asking: desk.asking,
            confirm: desk.confirm,
            ...which,
          }),
          loaded: fresh.loaded,
        };
      },
      discard: async (id) => (await import("../session/store.ts")).openSessions(world, { home }).remove(id),
      edit: async (text, name) =>
        editOutside(text, { name, program: settings.editor ?? "vi", env: await trustedEnvironment(world, folder) }),
      doctor: () => printed(["doctor"]),
      history,
      desk,
      ...(first === undefined ? {} : { first }),
    },
    frontFor,
  );
  leaving.listen((why) => app.leave(why));
  const reason = await app.run().catch(refused);
  return reason === undefined ? 0 : exitCodes[reason];
};

/** Hears what ends the interface, also before it is there and while an editor has the terminal. */
const watchSignals = (): { readonly listen: (listener: (reason: LeaveReason) => void) => void } => {
  let first: LeaveReason | undefined;
  let tell = (reason: LeaveReason): void => void (first ??= reason);
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
const exitCodes: { readonly [reason in LeaveReason]: number } = { "hang-up": 129, terminate: 143 };

/** What a person can put right is said as such. */
const refused = async (error: unknown): Promise<never> => (await import("./opening.ts")).refusing(error);

type Maker = ConstructorParameters<typeof Interface>[1];

/** The same words without the session they name. */
const withoutSession = (given: Arguments): Arguments => ({
  ...given,
  has: (option) => option !== "continue" && given.has(option),
  value: (option) => (option === "resume" ? undefined : given.value(option)),
});

/** What the program itself prints when it is given these words. */
const printed = (words: readonly string[]): Promise<string> =>
  new Promise((resolve) => {
    const [, program = ""] = process.argv;
    execFile(process.execPath, [program, ...words], { encoding: "utf8" }, (_, out, err) => resolve(out + err));
  });

/** Runs the person's own editor on a text; undefined where it was left unchanged. */
const editOutside = async (
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
