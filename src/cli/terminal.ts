import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Opened } from "../agent/open.ts";
import { commands } from "../tui/app/commands.ts";
import { greeting } from "../tui/app/greeting.ts";
import { runInterface } from "../tui/app/interface.ts";
import { inputHistory } from "../tui/app/history.ts";
import { realTerminal } from "../world/real-terminal.ts";
import type { Arguments } from "./arguments.ts";
import { misused } from "./failure.ts";
import { openSession, prepare, refusing } from "./opening.ts";

/** `parley` with a terminal: the interface. */
export const terminal = async (given: Arguments): Promise<number> => {
  const there = realTerminal();
  if (there === undefined) throw misused('There is no terminal here. Give a task with parley -p "TEXT".');
  const prepared = await prepare(given).catch(refusing);
  const opened = await openSession(prepared, given, { interactive: true }).catch(refusing);
  const { world, home, folder, loaded } = prepared;
  const { settings } = loaded;
  let current: Opened = opened;
  const [first] = given.words;
  return runInterface({
    terminal: there,
    world,
    home,
    folder,
    isTrusted: loaded.policy.trusted,
    isSandboxed: given.has("sandbox") || settings.sandbox,
    theme: settings["ui.theme"],
    opened,
    reopen: async (resume) => {
      await current.close();
      current = await openSession(prepared, given, { interactive: true, ...(resume === undefined ? {} : { resume }) });
      return current;
    },
    commands,
    edit: (text, name) => editOutside(text, { name, program: settings.editor ?? "vi" }),
    history: inputHistory(world, home),
    greeting: greeting({ opened, folder, loaded }),
    ...(first === undefined ? {} : { first }),
  });
};

/** Runs the person's own editor on a text; undefined where it was left unchanged. */
const editOutside = async (
  text: string,
  { name, program }: { readonly name: string; readonly program: string },
): Promise<string | undefined> => {
  const folder = await mkdtemp(join(tmpdir(), "parley-edit-"));
  const file = join(folder, basename(name));
  try {
    await writeFile(file, text, { mode: 0o600 });
    const [command = "vi", ...words] = program.split(/\s+/).filter((word) => word !== "");
    await new Promise<void>((resolve, reject) => {
      const child = spawn(command, [...words, file], { stdio: "inherit" });
      child.on("error", reject);
      child.on("exit", () => resolve());
    });
    const edited = await readFile(file, "utf8");
    return edited === text ? undefined : edited;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
