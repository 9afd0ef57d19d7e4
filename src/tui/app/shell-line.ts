import type { OpenServices } from "../../scheduler/services.ts";
import { text, type UserPart } from "../../conversation/index.ts";

/** A line the person ran in the shell, and what came of it. */
export type ShellLine = {
  readonly command: string;
  readonly output: string;
  /** How it ended, in words; undefined where it ended well. */
  readonly problem?: string;
};

/** Runs a line the person typed in the workspace's shell, with the environment commands of the model have. */
export const runShellLine = async (
  command: string,
  { capabilities }: Pick<OpenServices, "capabilities">,
  { signal, report }: { readonly signal: AbortSignal; readonly report: (text: string) => void },
): Promise<ShellLine> => {
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

type Ending = {
  readonly error: string | undefined;
  readonly code: number | undefined;
  readonly killedBy: string | undefined;
  readonly ended: "exit" | "timeout" | "cancelled";
};

const problemOf = ({ error, code, killedBy, ended }: Ending): string | undefined => {
  if (error !== undefined) return error;
  if (ended === "cancelled") return "It was stopped.";
  if (ended === "timeout") return "It took too long and was stopped.";
  if (killedBy !== undefined) return `It was ended by ${killedBy}.`;
  return code === 0 ? undefined : `Exit code ${code}.`;
};

/** What the model is told of it, with the person's next message. */
export const shellAside = ({ command, output, problem }: ShellLine): UserPart =>
  text(
    [
      `I ran this in the shell myself: ${command}`,
      ...(problem === undefined ? [] : [problem]),
      output === "" ? "It printed nothing." : `It printed:\n${output}`,
    ].join("\n"),
  );
