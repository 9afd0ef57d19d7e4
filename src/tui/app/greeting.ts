import type { Opened } from "../../agent/open.ts";
import { modelName } from "../../agent/model-name.ts";
import { line, linesOf, span } from "../text/line.ts";
import type { Line } from "../text/style.ts";
import { wrap } from "../text/wrap.ts";

/** The first line: who this is, and where we are. */
export const headline = (folder: string, width: number): readonly Line[] =>
  wrap([span("Parley", { bold: true, tone: "accent" }), span(`  ${folder}`, { tone: "muted" })], { width });

/** What was found, and what is missing: the model, servers, agents, and what else a person should know. */
export const greeting = (
  opened: Opened,
  { width, isFirst }: { readonly width: number; readonly isFirst: boolean },
): readonly Line[] =>
  [
    ...(isFirst ? modelLines(opened) : [line(modelName(opened.agent.model()), { tone: "muted" })]),
    ...found(opened),
    ...opened.notes.flatMap((note) =>
      linesOf(note, opened.warnings?.includes(note) === true ? { tone: "warning", bold: true } : { tone: "muted" }),
    ),
  ].flatMap((each) => wrap(each, { width }));

const modelLines = ({ chosen, agent }: Opened): readonly Line[] =>
  chosen.by === "none"
    ? [
        line("No API key found, so the built-in demo model answers: it uses the tools, but it is no language model."),
        line("Set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or see /doctor.", { tone: "muted" }),
      ]
    : [line(modelName(agent.model()), { tone: "muted" })];

const found = ({ servers, agents }: Opened): readonly Line[] => {
  const names = servers?.status().map(({ name }) => name) ?? [];
  return [
    ...(names.length === 0 ? [] : [line(`MCP servers: ${names.join(", ")}.`, { tone: "muted" })]),
    ...(agents.length === 0 ? [] : [line(`Agents: ${agents.map(({ name }) => name).join(", ")}.`, { tone: "muted" })]),
  ];
};
