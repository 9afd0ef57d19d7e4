import { isObject } from "../../conversation/json.ts";
import { findToolName } from "../../policy/gate/tool-names.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import type { RemoteAgentSource } from "./remote/definition.ts";
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
  /** Set for an agent on another server, which gets the task over A2A. */
  readonly remote?: RemoteAgentSource;
  /** Fields of its file that have no effect here, for lists. */
  readonly notes?: readonly string[];
};

/** Why a file does not define an agent. */
export type InvalidAgentFile = { readonly problem: string };

/** Parses a file: front matter with name and description, then the prompt. */
export const readAgentFile = async ({
  label,
  text,
  isOwn = false,
}: {
  readonly label: string;
  readonly text: string;
  /** Whether it is a file of the person's own. */
  readonly isOwn?: boolean;
}): Promise<SubagentDefinition | InvalidAgentFile> => {
  const file = splitFrontMatter(text);
  if (file === undefined) return { problem: `${label} does not define an agent: front matter is missing.` };
  if (/^\s*- /.test(file.front))
    return { problem: `${label} defines a list of agents, which is not supported: use one file for each.` };
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
  if (isRemote(properties)) return readRemote(name, properties, { label, text, isOwn });
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

/** As in Gemini CLI, an address of a card is enough. */
const isRemote = ({ kind, ...fields }: FrontMatter): boolean =>
  kind === "remote" || (kind === undefined && ("agent_card_url" in fields || "agent_card_json" in fields));

const readRemote = async (
  name: string,
  properties: FrontMatter,
  { label, ...file }: { readonly label: string; readonly text: string; readonly isOwn: boolean },
): Promise<SubagentDefinition | InvalidAgentFile> => {
  const { readRemoteAgent } = await import("./remote/definition.ts");
  const remote = readRemoteAgent(properties, file);
  if ("problem" in remote) return { problem: `${label} does not define a remote agent: ${remote.problem}` };
  const notes = describeUnused(properties, remoteFields);
  return {
    name,
    description: (nonEmptyText(properties["description"]) ?? "An agent on another server.").slice(0, 1000),
    prompt: "",
    ...(properties["background"] === true ? { background: true } : {}),
    remote,
    ...(notes.length === 0 ? {} : { notes }),
  };
};

const remoteFields = new Set(
  "kind name description agent_card_url agent_card_json auth background color display_name".split(" "),
);

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
const describeUnused = (properties: FrontMatter, known: ReadonlySet<string> = knownFields): readonly string[] =>
  Object.keys(properties)
    .filter((field) => !known.has(field) && !(field === "kind" && properties[field] === "local"))
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
