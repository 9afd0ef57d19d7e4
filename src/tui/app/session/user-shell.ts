import type { OpenServices } from "../../../scheduler/services.ts";
import type { UserPart } from "../../../conversation/parts.ts";
import type { Clock } from "../../../world/world.ts";
import type { StyledLine } from "../../text/style.ts";
import { viewToolCall, type ToolCallView } from "../../views/tool-call.ts";

/** A shell command the user ran, with its result. */
export type ShellResult = {
  readonly command: string;
  readonly output: string;
  /** How it failed; undefined if it succeeded. */
  readonly problem?: string;
};

/** Runs the user's shell commands, one at a time. */
export class UserShell {
  readonly #clock: Pick<Clock, "elapsed">;
  readonly #onChange: () => void;
  #running: { readonly since: number; view: ToolCallView; readonly stop: AbortController } | undefined;

  constructor(clock: Pick<Clock, "elapsed">, changed: () => void) {
    this.#clock = clock;
    this.#onChange = changed;
  }

  /** When the running command began. */
  get busySince(): number | undefined {
    return this.#running?.since;
  }

  /** The running command as lines. */
  live(width: number): readonly StyledLine[] {
    if (this.#running === undefined) return [];
    const { view, since } = this.#running;
    return viewToolCall({ ...view, elapsed: this.#clock.elapsed() - since }, width);
  }

  stop(): void {
    this.#running?.stop.abort();
  }

  async run(command: string, services: Pick<OpenServices, "capabilities">): Promise<ShellResult> {
    const stop = new AbortController();
    const running = { since: this.#clock.elapsed(), view: runningView(command), stop };
    this.#running = running;
    const report = (output: string): void => {
      running.view = { ...running.view, output };
      this.#onChange();
    };
    this.#onChange();
    try {
      return await runShellCommand(command, services, { signal: stop.signal, report });
    } finally {
      this.#running = undefined;
    }
  }
}

const runningView = (command: string): ToolCallView => ({ tool: "!", title: command, status: "running", output: "" });

/** Shows a finished command with all its output. */
export const viewShellResult = ({ command, output, problem }: ShellResult, width: number): readonly StyledLine[] => {
  const said = [output, problem ?? ""].filter((each) => each !== "").join("\n");
  const status = problem === undefined ? "success" : "error";
  return viewToolCall({ ...runningView(command), status, output: said, isExpanded: true }, width);
};

/** Runs a command in the workspace shell, with the environment that commands of the model get. */
export const runShellCommand = async (
  command: string,
  { capabilities }: Pick<OpenServices, "capabilities">,
  { signal, report }: { readonly signal: AbortSignal; readonly report: (text: string) => void },
): Promise<ShellResult> => {
  const { shell } = capabilities({ signal, report });
  const {
    output,
    error,
    code,
    signal: killedBy,
    ended,
  } = await shell.run({ text: command, folder: "", signal, report });
  const problem = problemOf({ error, code, killedBy, ended });
  return { command, output, ...(problem === undefined ? {} : { problem }) };
};

type ShellEnding = {
  readonly error: string | undefined;
  readonly code: number | undefined;
  readonly killedBy: string | undefined;
  readonly ended: "exit" | "timeout" | "cancelled";
};

const problemOf = ({ error, code, killedBy, ended }: ShellEnding): string | undefined => {
  if (error !== undefined) return error;
  if (ended === "cancelled") return "Cancelled.";
  if (ended === "timeout") return "Timed out.";
  if (killedBy !== undefined) return `Killed by ${killedBy}.`;
  return code === 0 ? undefined : `Exit code ${code}.`;
};

/** The text added to the user's next prompt. */
export const shellContextPart = ({ command, output, problem }: ShellResult): UserPart => ({
  type: "text",
  text: [
    `I ran this in the shell myself: ${command}`,
    ...(problem === undefined ? [] : [problem]),
    output === "" ? "It printed nothing." : `It printed:\n${output}`,
  ].join("\n"),
});
