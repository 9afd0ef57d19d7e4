/** An agent as a Markdown file describes it. */
export type SubagentDefinition = {
  readonly name: string;
  /** When to use it, for the model that chooses. */
  readonly description: string;
  /** Its system prompt. */
  readonly prompt: string;
  /** The tools it may use; all if absent. */
  readonly tools?: readonly string[];
  /** `provider/model`; the one of whoever calls it if absent. */
  readonly model?: string;
  /** The most requests it may make. */
  readonly maxTurns?: number;
};

/** What is wrong with a file that describes no agent. */
export type InvalidAgentFile = { readonly problem: string };

/** Reads one file: front matter with name and description, then the prompt. */
export const readAgentFile = async ({
  label,
  text,
}: {
  readonly label: string;
  readonly text: string;
}): Promise<SubagentDefinition | InvalidAgentFile> => {
  const [, front, prompt = ""] = /^\uFEFF?---\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n(.*))?$/s.exec(text) ?? [];
  if (front === undefined) return { problem: `${label} describes no agent: it does not begin with front matter.` };
  const { parse } = await import("yaml");
  let fields: unknown;
  try {
    fields = parse(front, { maxAliasCount: 10 });
  } catch (error) {
    return { problem: `${label} describes no agent: ${error instanceof Error ? error.message.split("\n")[0] : ""}` };
  }
  if (typeof fields !== "object" || fields === null) return { problem: `${label} describes no agent.` };
  const given = fields as Readonly<Record<string, unknown>>;
  const name = nonEmptyText(given["name"]) ?? label.replace(/^.*\/|\.md$/g, "");
  if (!/^[\w-]{1,64}$/.test(name)) return { problem: `${label}: "${name.slice(0, 64)}" is no name for an agent.` };
  const tools = readToolNames(given["tools"]);
  const model = nonEmptyText(given["model"]);
  const turns = given["maxTurns"] ?? given["max_turns"];
  return {
    name,
    description: (nonEmptyText(given["description"]) ?? "").slice(0, 1000),
    prompt: prompt.trim(),
    ...(tools === undefined ? {} : { tools }),
    ...(model?.includes("/") === true ? { model } : {}),
    ...(typeof turns === "number" && turns >= 1 ? { maxTurns: Math.floor(turns) } : {}),
  };
};

const nonEmptyText = (value: unknown): string | undefined =>
  typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;

/** A list, or words with commas; `*` means all. */
const readToolNames = (value: unknown): readonly string[] | undefined => {
  const words = typeof value === "string" ? value.split(",") : Array.isArray(value) ? value : undefined;
  const names = words?.flatMap((word) => nonEmptyText(word) ?? []).map((word) => toolAliases[word] ?? word);
  return names === undefined || names.includes("*") ? undefined : names;
};

/** Tools by the names another agent's users know. */
const toolAliases: { readonly [theirs: string]: string } = {
  Bash: "run_shell_command",
  Edit: "replace",
  Glob: "glob",
  Grep: "search_file_content",
  LS: "list_directory",
  MultiEdit: "replace",
  Read: "read_file",
  WebFetch: "web_fetch",
  WebSearch: "google_web_search",
  Write: "write_file",
};
