import type { AgentSession } from "../../../agent/open-agent.ts";
import { modelName } from "../../../agent/models/name.ts";
import { line, toLines, span } from "../../text/line.ts";
import type { StyledLine } from "../../text/style.ts";
import { wrap } from "../../text/wrap.ts";

/** The first line: program name and folder. */
export const viewHeader = (folder: string, width: number): readonly StyledLine[] =>
  wrap([span("Parley", { bold: true, tone: "accent" }), span(`  ${folder}`, { tone: "muted" })], { width });

/** Options of the greeting. */
type GreetingOptions = {
  readonly width: number;
  readonly isFirst: boolean;
  /** The branch that is checked out in the folder. */
  readonly branch: string | undefined;
};

/** The greeting: model, branch, context files, MCP servers, subagents, notes and, the first time, a hint. */
export const viewGreeting = (
  opened: AgentSession,
  { width, isFirst, branch }: GreetingOptions,
): readonly StyledLine[] =>
  [
    ...(isFirst ? modelLines(opened) : [line(modelName(opened.agent.model()), { tone: "muted" })]),
    ...(branch === undefined ? [] : [line(`Branch: ${branch}`, { tone: "muted" })]),
    ...(opened.contextFiles.length === 0
      ? []
      : [line(`Context: ${opened.contextFiles.join(", ")}`, { tone: "muted" })]),
    ...viewExtensions(opened),
    ...opened.notes.flatMap((note) =>
      toLines(note, opened.warnings?.includes(note) === true ? { tone: "warning", bold: true } : { tone: "muted" }),
    ),
    ...(isFirst && opened.modelChoice.by !== "none" && opened.modelChoice.by !== "local"
      ? [
          line("Tip: @ attaches a file, ! runs a command, Shift-Tab changes what runs without asking.", {
            tone: "muted",
          }),
        ]
      : []),
  ].flatMap((each) => wrap(each, { width }));

const modelLines = ({ modelChoice, agent }: AgentSession): readonly StyledLine[] =>
  modelChoice.by === "none"
    ? [
        line("No API key found. Using the built-in demo model: it runs tools, but is not a language model."),
        line("Set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or run /login.", { tone: "muted" }),
      ]
    : modelChoice.by === "local"
      ? [
          line(`No API key found. Using ${modelName(agent.model())}, served on this machine.`),
          line("Add a provider with /login; /model lists all models.", { tone: "muted" }),
        ]
      : [line(modelName(agent.model()), { tone: "muted" })];

const viewExtensions = ({ servers, agents }: AgentSession): readonly StyledLine[] => {
  const names = servers?.status().map(({ name }) => name) ?? [];
  return [
    ...(names.length === 0 ? [] : [line(`MCP servers: ${names.join(", ")}.`, { tone: "muted" })]),
    ...(agents.length === 0 ? [] : [line(`Agents: ${agents.map(({ name }) => name).join(", ")}.`, { tone: "muted" })]),
  ];
};
