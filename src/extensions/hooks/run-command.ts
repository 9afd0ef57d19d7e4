import { isObject } from "../../conversation/json.ts";
import { buildCmdProgram, usesCmd } from "../../policy/command/windows.ts";
import { createChildEnvironment } from "../../policy/shell/environment.ts";
import type { Confine } from "../../policy/shell/run.ts";
import { defaultSearchPath, filterTrustedSearchPath } from "../../policy/shell/search-path.ts";
import { ProcessStopper } from "../../policy/shell/stopper.ts";
import type { Program, RunningProcess } from "../../world/processes.ts";
import type { World } from "../../world/world.ts";
import type { Hook, HookHandler } from "./hook.ts";
import type { HookRun } from "./hook-output.ts";

/** Where hooks run, and under which limits. */
export type HookWorld = {
  readonly world: Pick<World, "clock" | "env" | "host" | "disk" | "processes" | "net">;
  /** The folder of the session: the working folder of commands. */
  readonly folder: string;
  readonly sessionId: string;
  /** Wraps a program in the session's sandbox, if it has one. */
  readonly confine?: Confine | undefined;
};

/** The most bytes a hook may print. */
const maxOutputBytes = 2 ** 20;

/**
 * Runs the command of a hook with the event on stdin. Its process group is killed when it takes or prints too much. A
 * hook whose first line of output is `{"async": true}` goes on in the background: `onDetached` is called then.
 */
export const runHookCommand = async (
  hook: Hook,
  handler: Extract<HookHandler, { type: "command" | "program" }>,
  {
    input,
    signal,
    onDetached,
    ...context
  }: HookWorld & { readonly input: string; readonly signal: AbortSignal; readonly onDetached: () => void },
): Promise<HookRun> => {
  const program = await buildProgram(hook, handler, { ...context, input });
  if (program === undefined) return { type: "failure", why: `The program for it was not found.` };
  const { program: confined, finish } =
    context.confine === undefined
      ? { program, finish: undefined }
      : await context.confine(program, { writable: writableFolders(hook) });
  if (signal.aborted) return { type: "failure", why: "It was cancelled." };
  const running = await context.world.processes.start(confined);
  const stopper = new ProcessStopper(context.world.clock, running);
  const cancel = (): void => stopper.stop("cancelled");
  signal.addEventListener("abort", cancel, { once: true });
  stopper.stopAfter(hook.timeoutMs);
  try {
    const { output, error, isTooLong } = await readOutput(running, {
      stop: () => stopper.stop("cancelled"),
      onDetached,
    });
    const { code, signal: killedBy } = await running.exited;
    // What a command leaves in the background ends with it.
    if ((await running.groupMembers()).length > 0) await stopper.killRemaining();
    await finish?.({ code, output: error });
    if (isTooLong)
      return { type: "failure", why: `It printed more than ${maxOutputBytes / 2 ** 20} MiB and was stopped.` };
    if (stopper.reason === "timeout")
      return { type: "failure", why: `It was stopped after ${hook.timeoutMs / 1000} s (timeout).` };
    if (stopper.reason === "cancelled") return { type: "failure", why: "It was cancelled." };
    if (code === undefined) return { type: "failure", why: `It was ended by ${killedBy ?? "a signal"}.` };
    return { type: "exit", code, output, error };
  } finally {
    signal.removeEventListener("abort", cancel);
    stopper.dispose();
  }
};

/** The folder for its data is the only one of a plugin that its hooks may write to. */
const writableFolders = ({ set: { source } }: Hook): readonly string[] =>
  source.type === "plugin" && source.data !== undefined ? [source.data] : [];

const buildProgram = async (
  hook: Hook,
  handler: Extract<HookHandler, { type: "command" | "program" }>,
  { world, folder, sessionId, input }: HookWorld & { readonly input: string },
): Promise<Program | undefined> => {
  const env = { ...createChildEnvironment(world.env), ...hookVariables(hook, { folder, sessionId }) };
  const common = { cwd: folder, env, input, diesWithParent: true } as const;
  const searchPath = await filterTrustedSearchPath(world.disk, env["PATH"] ?? defaultSearchPath, [folder]);
  if (handler.type === "program") {
    const name = expandRoots(handler.program, env);
    const file = name.startsWith("/") ? name : await world.processes.find(name, searchPath);
    return file === undefined
      ? undefined
      : { ...common, file, args: handler.args.map((each) => expandRoots(each, env)) };
  }
  if (usesCmd(world.host.platform)) return { ...common, ...buildCmdProgram(handler.command, env) };
  const bash = await world.processes.find("bash", searchPath);
  if (bash !== undefined) return { ...common, file: bash, args: ["--noprofile", "--norc", "-c", handler.command] };
  const sh = await world.processes.find("sh", searchPath);
  return sh === undefined ? undefined : { ...common, file: sh, args: ["-c", handler.command] };
};

/** Variables that other agents set for hooks, besides our own. */
const hookVariables = (
  { set: { source }, format }: Hook,
  { folder, sessionId }: Pick<HookWorld, "folder" | "sessionId">,
): { readonly [name: string]: string } => ({
  PARLEY_PROJECT_DIR: folder,
  CLAUDE_PROJECT_DIR: folder,
  ...(format === "gemini" ? { GEMINI_PROJECT_DIR: folder, GEMINI_CWD: folder, GEMINI_SESSION_ID: sessionId } : {}),
  ...(source.type === "plugin"
    ? {
        CLAUDE_PLUGIN_ROOT: source.root,
        PLUGIN_ROOT: source.root,
        extensionPath: source.root,
        workspacePath: folder,
        // Files beside its own would count as a change of the plugin.
        PYTHONDONTWRITEBYTECODE: "1",
        ...(source.data === undefined ? {} : { CLAUDE_PLUGIN_DATA: source.data, PLUGIN_DATA: source.data }),
      }
    : {}),
});

/** Expands the folder variables of a program that is started without a shell; no others. */
const expandRoots = (text: string, env: { readonly [name: string]: string }): string =>
  text.replaceAll(
    /\$\{?(PARLEY_PROJECT_DIR|CLAUDE_PROJECT_DIR|CLAUDE_PLUGIN_ROOT|CLAUDE_PLUGIN_DATA|PLUGIN_ROOT|PLUGIN_DATA)\b\}?/g,
    (whole, name: string) => env[name] ?? whole,
  );

const readOutput = async (
  running: RunningProcess,
  { stop, onDetached }: { readonly stop: () => void; readonly onDetached: () => void },
): Promise<{ readonly output: string; readonly error: string; readonly isTooLong: boolean }> => {
  const pieces: Record<"output" | "error", Buffer[]> = { output: [], error: [] };
  const text = (from: "output" | "error"): string => Buffer.concat(pieces[from]).toString("utf8");
  let length = 0;
  let firstLine: string | undefined;
  for await (const { from, bytes } of running.output) {
    length += bytes.length;
    if (length > maxOutputBytes) stop();
    // A copy: the bytes are freed with the next chunk.
    else pieces[from].push(Buffer.from(bytes));
    if (from === "error" || firstLine !== undefined || !bytes.includes(10)) continue;
    firstLine = text("output").split("\n", 1)[0] ?? "";
    if (isAsyncLine(firstLine)) onDetached();
  }
  const output = text("output");
  const own = firstLine !== undefined && isAsyncLine(firstLine) ? output.slice(firstLine.length) : output;
  return { output: own, error: text("error"), isTooLong: length > maxOutputBytes };
};

/** Whether a line says that the hook goes on in the background. */
const isAsyncLine = (line: string): boolean => {
  if (!line.trimStart().startsWith("{") || !line.includes('"async"')) return false;
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) && value["async"] === true;
  } catch {
    return false;
  }
};
