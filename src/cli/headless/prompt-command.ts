import type { AgentEnvironment } from "../../agent/environment.ts";
import type { AgentSession } from "../../agent/open-agent.ts";
import { builtInCommands } from "../../tui/app/commands/built-in.ts";
import { loadPromptCommands } from "../../tui/app/commands/custom/load-commands.ts";
import type { PromptCommandContext } from "../../tui/app/commands/slash-command.ts";
import { runShellCommand } from "../../tui/app/session/user-shell.ts";
import { usageError, UserError } from "../user-error.ts";

/** The session a command is run in, and how its prompt and its messages leave. */
export type PromptCommandRun = {
  readonly environment: AgentEnvironment;
  readonly opened: AgentSession;
  readonly signal: AbortSignal;
  readonly notice: (text: string) => void;
  readonly send: (text: string) => Promise<void>;
};

/**
 * Runs the custom command or skill that a prompt names, and sends the prompt it results in. Returns false for a text
 * that names none, such as a path. Throws for a command of the terminal UI.
 */
export const runPromptCommand = async (
  prompt: string,
  { environment: { world, home, folder, loaded }, opened, signal, notice, send }: PromptCommandRun,
): Promise<boolean> => {
  const [, name, words = ""] = /^\/([^\s/]+)(?:\s+([^]*))?$/.exec(prompt.trimEnd()) ?? [];
  if (name === undefined) return false;
  if (builtInCommands.some((each) => each.name === name || each.aliases?.includes(name) === true))
    throw usageError(
      `/${name} is a command of the terminal UI, so nothing was sent. Run parley without -p, or begin the prompt with a space to send it as it is.`,
    );
  const { commands, problems } = await loadPromptCommands({ world, home, folder, loaded, opened });
  const command = commands.find((each) => each.name === name);
  if (command === undefined) return false;
  for (const problem of problems) notice(problem);
  let isSent = false;
  const context: PromptCommandContext = {
    world,
    folder,
    opened: () => opened,
    info: notice,
    warn: notice,
    print: (lines) => notice(lines.map((line) => line.map(({ text }) => text).join("")).join("\n")),
    // There is no person to ask: the answer that allows nothing is taken.
    confirm: async () => undefined,
    send: async (text) => {
      isSent = true;
      await send(text);
    },
    sendsWholeTurn: true,
    runShell: async (line) => runShellCommand(line, await opened.services(), { signal, report: () => undefined }),
    width: () => 80,
  };
  await command.run(words, context);
  if (!isSent) throw new UserError(`/${name} resulted in no prompt, so nothing was sent.`);
  return true;
};
