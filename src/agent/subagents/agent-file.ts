import { isObject } from "../../conversation/json.ts";
import { findToolName } from "../../policy/gate/tool-names.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import { parseFrontMatter, splitFrontMatter, type FrontMatter } from "../../context/front-matter.ts";

/** A subagent as defined in a Markdown file. */
export type SubagentDefinition = {
  readonly name: string;
  /** When to use it, for the model that selects one. */
  readonly description: string;
  /** Its system prompt. */
  readonly prompt: string;
  /** The tools it may use; all if absent. */
  readonly tools?: readonly string[];
  /** The tools it may not use. */
  readonly disallowedTools?: readonly string[];
  /** Whether it starts in the background. */
  readonly background?: true;
  /** `provider/model` or a part of a model's name; the model of the parent if absent or not usable. */
  readonly model?: string;
  /** The most requests it may make. */
  readonly maxTurns?: number;
  /** Fields of its file that have no effect here, for lists. */
  readonly notes?: readonly string[];
};

/** Why a file does not define an agent. */
export type InvalidAgentFile = { readonly problem: string };

/** Parses a file: front matter with name and description, then the prompt. */
export const readAgentFile = async ({
  label,
  text,
}: {
  readonly label: string;
  readonly text: string;
}): Promise<SubagentDefinition | InvalidAgentFile> => {
  const file = splitFrontMatter(text);
  if (file === undefined) return { problem: `${label} does not define an agent: front matter is missing.` };
  let properties: FrontMatter;
  try {
    properties = await parseFrontMatter(file.front);
  } catch (error) {
    return {
      problem: `${label} does not define an agent: ${error instanceof Error ? error.message.split("\n")[0] : ""}`,
    };
  }
  const name = nonEmptyText(properties["name"]) ?? label.replace(/^.*\/|\.md$/g, "");
  if (!/^[\w-]{1,64}$/.test(name)) return { problem: `${label}: "${name.slice(0, 64)}" is not a valid agent name.` };
  const tools = readToolNames(properties["tools"]);
  const disallowed =
    readToolNames(properties["disallowedTools"] ?? properties["disallowed_tools"]) ??
    readDisabledTools(properties["tools"]);
  const model = nonEmptyText(properties["model"]);
  const turns = properties["maxTurns"] ?? properties["max_turns"];
  const notes = describeUnused(properties);
  return {
    name,
    description: (nonEmptyText(properties["description"]) ?? "").slice(0, 1000),
    prompt: file.body.trim(),
    ...(tools === undefined ? {} : { tools }),
    ...(model === undefined || model === "inherit" ? {} : { model }),
    ...(disallowed === undefined ? {} : { disallowedTools: disallowed }),
    ...(properties["background"] === true ? { background: true } : {}),
    ...(typeof turns === "number" && turns >= 1 ? { maxTurns: Math.floor(turns) } : {}),
    ...(notes.length === 0 ? {} : { notes }),
  };
};

const knownFields = new Set([
  "name",
  "description",
  "tools",
  "disallowedTools",
  "disallowed_tools",
  "model",
  "maxTurns",
  "max_turns",
  "background",
  // For people only.
  "color",
  "display_name",
]);

/** Fields of other agents that are not honoured here. */
const describeUnused = (properties: FrontMatter): readonly string[] =>
  Object.keys(properties)
    .filter((field) => !knownFields.has(field) && !(field === "kind" && properties[field] === "local"))
    .map((field) => `${sanitizeForTerminal(field, "line").slice(0, 40)} has no effect here`);

const nonEmptyText = (value: unknown): string | undefined =>
  typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;

/** A list, or names separated by commas; `*` means all. */
const readToolNames = (value: unknown): readonly string[] | undefined => {
  const items = typeof value === "string" ? value.split(",") : Array.isArray(value) ? value : undefined;
  const names = items?.flatMap((item) => nonEmptyText(item) ?? []).map((item) => findToolName(item) ?? item);
  return names === undefined || names.includes("*") ? undefined : names;
};

/** The tools that opencode's map of tools switches off. */
const readDisabledTools = (value: unknown): readonly string[] | undefined => {
  if (!isObject(value)) return undefined;
  const names = Object.keys(value).filter((name) => value[name] === false);
  return names.length === 0 ? undefined : names.map((name) => findToolName(name) ?? name);
};
