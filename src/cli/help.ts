import { commands, type Command } from "./commands.ts";

/** The help of the program. */
export const programHelp = (): string => `\
Parley renders any conversation into a request that any LLM API accepts.

Usage: parley COMMAND [options]

${columns(commands.map(({ name, about }) => [name, about]))}

  --help, -h     this text; after a command, its own
  --version, -V  the version

WIRE is gemini, anthropic, bedrock, openai-chat or openai-responses.
PROVIDER/MODEL is a provider and one of its models, such as anthropic/claude-sonnet-5.

Example: parley convert request.json --from openai-chat --for anthropic
Exit codes: 0 done, 1 findings or failure, 2 misuse or nothing readable.
`;

/** The help of one command. */
export const commandHelp = ({ name, about, usage, details, options, example, exits }: Command): string => `\
parley ${name}: ${about}.

Usage: parley ${name} ${usage}

${details.join("\n")}
${options.length === 0 ? "" : `\n${columns(options.map((option) => [labelOf(option), option.about]))}\n`}
Example: ${example}
Exit codes:
${exits.map((exit) => `  ${exit}`).join("\n")}
`;

const labelOf = ({ name, value }: Command["options"][number]): string =>
  value === undefined ? `--${name}` : `--${name} ${value}`;

const columns = (rows: readonly (readonly [string, string])[]): string => {
  const width = Math.max(...rows.map(([label]) => label.length));
  return rows.map(([label, about]) => `  ${label.padEnd(width)}  ${about}`).join("\n");
};
