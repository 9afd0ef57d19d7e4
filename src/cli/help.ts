import type { CommandSpec, CommandOption } from "./command.ts";
import { commands } from "./commands.ts";
import { maxWidth, wrapText } from "./text-table.ts";

/** Returns the help of the program. */
export const programHelp = (): string => `\
Parley is a terminal agent for every model: it works in your folder with the model you choose, and
you can switch to another provider's model at any turn.

Usage: parley ["TEXT"] [options]     chat with a model, with TEXT as the first message
       parley -p "TEXT" [options]    run one prompt without a terminal, and print the response
       parley COMMAND [options]

${groups().map(formatGroup).join("\n\n")}

${formatColumns([
  ...everydayChatOptions().map((option): HelpRow => [optionLabel(option, true), option.about]),
  ["-h, --help", "Print help; after a command, the help of that command"],
  ["-V, --version", "Print the version"],
])}

See parley chat --help for all options of chat.
PROVIDER/MODEL is for example anthropic/claude-sonnet-5; PROVIDER alone means its default model.
API is gemini, anthropic, bedrock, openai-chat or openai-responses.

Example: parley -p "What does this project do?" --model anthropic
Exit codes: 0 done, 1 findings or failure, 2 wrong usage or unreadable input; chat has more.
`;

/** Returns the help of one command. */
export const commandHelp = ({
  name,
  about,
  usage,
  details,
  options,
  example,
  exitCodes: exits,
}: CommandSpec): string => {
  const hasShort = options.some(({ short }) => short !== undefined);
  return `\
parley ${name}: ${about}.

Usage: parley ${name} ${usage}

${details.join("\n")}
${options.length === 0 ? "" : `\n${formatColumns(options.map((option) => [optionLabel(option, hasShort), option.about]))}\n`}
Example: ${example}
Exit codes:
${exits.map((exit) => `  ${exit}`).join("\n")}
`;
};

type HelpGroup = { readonly title: string; readonly commands: readonly CommandSpec[] };

/** Groups the commands. A command in no group is listed at the end under "Other". */
const groups = (): readonly HelpGroup[] => {
  const titled = groupTitles.map(([title, names]) => ({
    title,
    commands: names.flatMap((name) => commands.filter((command) => command.name === name)),
  }));
  const others = commands.filter(({ name }) => !groupTitles.some(([, names]) => names.includes(name)));
  return [...titled, { title: "Other", commands: others }].filter((group) => group.commands.length > 0);
};

const groupTitles: readonly (readonly [title: string, names: readonly string[]])[] = [
  ["Chat", ["chat", "compare", "sessions", "switch-check", "tour"]],
  [
    "Set up",
    [
      "doctor",
      "models",
      "login",
      "logout",
      "config",
      "permissions",
      "trust",
      "tools",
      "skills",
      "hooks",
      "plugins",
      "commands",
      "agents",
      "mcp",
      "adopt",
    ],
  ],
  ["Requests", ["render", "convert", "lint", "simulate", "inspect"]],
  ["For other programs", ["acp", "a2a", "gateway", "serve", "store", "worker", "completion"]],
];

const formatGroup = ({ title, commands: listed }: HelpGroup): string =>
  `${title}\n${formatColumns(listed.map(({ name, about }) => [name.padEnd(longestName()), about]))}`;

const longestName = (): number => Math.max(...commands.map(({ name }) => name.length));

/** The options of chat that have a short form. */
const everydayChatOptions = (): readonly CommandOption[] =>
  commands.find(({ name }) => name === "chat")?.options.filter(({ short }) => short !== undefined) ?? [];

const optionLabel = ({ name, short, value }: CommandOption, isWide: boolean): string => {
  const letter = short === undefined ? (isWide ? "    " : "") : `-${short}, `;
  return `${letter}--${name}${value === undefined ? "" : ` ${value}`}`;
};

type HelpRow = readonly [label: string, about: string];

const formatColumns = (rows: readonly HelpRow[]): string => {
  const width = Math.max(...rows.map(([label]) => label.length));
  return rows.map(([label, about]) => formatRow(`  ${label.padEnd(width)}  `, about)).join("\n");
};

/** Formats a label with a text beside it, wrapped to as many lines as needed. */
const formatRow = (label: string, about: string): string => {
  const line = `${label}${about}`;
  if (line.length <= maxWidth) return line;
  const [first = "", ...rest] = wrapText(`${" ".repeat(label.length)}${about}`, " ".repeat(label.length)).split("\n");
  return [label + first.slice(label.length), ...rest].join("\n");
};
