import { isAbsolute, resolve } from "node:path";
import type { ContentBlock, ToolCallContent, ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk";
import type { Blobs } from "../conversation/entry.ts";
import { inputObject } from "../conversation/call-input.ts";
import type { JsonObject } from "../conversation/json.ts";
import type { Call, Content, Media, Outcome } from "../conversation/parts.ts";
import type { ToolDisplay } from "../tools/tool.ts";

/** A tool as clients show it: its kind, its title, and which of its arguments are paths. */
type ToolView = {
  readonly kind: ToolKind;
  readonly title: (input: JsonObject) => string;
  /** The arguments that are paths. */
  readonly paths?: readonly string[];
};

const text = (value: unknown): string =>
  typeof value === "string" ? value : Array.isArray(value) ? value.map(text).join(", ") : "";

const verb =
  (word: string, ...names: readonly string[]): ToolView["title"] =>
  (input) =>
    [word, ...names.map((name) => text(input[name]))].filter((each) => each !== "").join(" ");

const toolViews: Readonly<Record<string, ToolView>> = {
  read_file: { kind: "read", title: verb("Read", "absolute_path", "path"), paths: ["absolute_path", "path"] },
  read_many_files: { kind: "read", title: verb("Read", "paths"), paths: ["paths"] },
  list_directory: { kind: "read", title: verb("List", "path"), paths: ["path"] },
  glob: { kind: "search", title: verb("Find", "pattern"), paths: ["path"] },
  search_file_content: { kind: "search", title: verb("Search for", "pattern"), paths: ["path"] },
  write_file: { kind: "edit", title: verb("Write", "file_path"), paths: ["file_path"] },
  replace: { kind: "edit", title: verb("Edit", "file_path"), paths: ["file_path"] },
  smart_edit: { kind: "edit", title: verb("Edit", "file_path"), paths: ["file_path"] },
  run_shell_command: { kind: "execute", title: verb("", "command") },
  web_fetch: { kind: "fetch", title: verb("Fetch", "prompt") },
  google_web_search: { kind: "fetch", title: verb("Search the web for", "query") },
  task: { kind: "think", title: verb("", "description") },
  write_todos: { kind: "think", title: () => "Update the to-do list" },
  ask_user: { kind: "other", title: () => "Ask a question" },
  background_tasks: { kind: "other", title: () => "Look at background tasks" },
  save_memory: { kind: "other", title: verb("Remember:", "fact") },
};

/** A call as clients show it. The same call has the same view when it is made and when its session is loaded. */
export type CallView = {
  readonly title: string;
  readonly kind: ToolKind;
  readonly locations: ToolCallLocation[];
  readonly input: JsonObject;
};

const maxTitleLength = 200;

/** Describes a call: its title, kind and the absolute paths it names. */
export const viewCall = ({ tool, input: raw }: Pick<Call, "tool" | "input">, folder: string): CallView => {
  const view = Object.hasOwn(toolViews, tool) ? toolViews[tool] : undefined;
  const input = inputObject(raw);
  const title = oneLine(view?.title(input) ?? genericTitle(tool, input));
  const paths = (view?.paths ?? []).flatMap((name) => [input[name]].flat());
  return {
    title: title === "" ? tool : title,
    kind: view?.kind ?? "other",
    locations: paths.flatMap((path) =>
      typeof path === "string" && path !== "" ? [locate(path, input["offset"], folder)] : [],
    ),
    input,
  };
};

const genericTitle = (tool: string, input: JsonObject): string => {
  const first = Object.values(input).find((value) => typeof value === "string");
  return first === undefined ? tool : `${tool} ${first}`;
};

const oneLine = (title: string): string => {
  const line = title.replaceAll(/\s+/g, " ").trim();
  return line.length <= maxTitleLength ? line : `${line.slice(0, maxTitleLength - 1).toWellFormed()}…`;
};

const locate = (path: string, offset: unknown, folder: string): ToolCallLocation => ({
  path: isAbsolute(path) ? path : resolve(folder, path),
  ...(typeof offset === "number" && Number.isInteger(offset) && offset >= 0 && offset < 2 ** 32 - 1
    ? { line: offset + 1 }
    : {}),
});

/** The content of a call that has ended: the diff of an edit, else its text; then its media. */
export const resultContent = (
  { display, outcome, blobs }: { readonly display?: ToolDisplay; readonly outcome: Outcome; readonly blobs: Blobs },
  call: Call,
  folder: string,
): ToolCallContent[] => {
  const media = outcome.content.flatMap((part) => (part.type === "media" ? [mediaContent(part, blobs)] : []));
  if (display?.type === "diff") return [diffContent(display.path, display.before, display.after, folder), ...media];
  const edit = display === undefined && outcome.status === "complete" ? recordedDiff(call, folder) : undefined;
  if (edit !== undefined) return [edit, ...media];
  const shown = display === undefined ? outcomeText(outcome.content) : displayText(display);
  const isOutput = viewCall(call, folder).kind === "execute" && shown !== "";
  return [...(shown === "" ? [] : [textContent(isOutput ? fence(shown) : shown)]), ...media];
};

export const textContent = (shown: string): ToolCallContent => ({
  type: "content",
  content: { type: "text", text: shown },
});

/** Output as a Markdown code block: clients render text as Markdown. */
export const fence = (text: string): string => {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const ticks = "`".repeat(longest + 1);
  return `${ticks}\n${text.endsWith("\n") ? text : `${text}\n`}${ticks}`;
};

/** An edit. Null as the old text means a new file. */
export const diffContent = (
  path: string,
  before: string | undefined,
  after: string,
  folder: string,
): ToolCallContent => ({
  type: "diff",
  path: isAbsolute(path) ? path : resolve(folder, path),
  oldText: before ?? null,
  newText: after,
});

/** The log of a session keeps the arguments of an edit, not the whole files. */
const recordedDiff = (call: Call, folder: string): ToolCallContent | undefined => {
  const input = inputObject(call.input);
  const [path, before, after] =
    call.tool === "write_file"
      ? [input["file_path"], undefined, input["content"]]
      : call.tool === "replace" || call.tool === "smart_edit"
        ? [input["file_path"], input["old_string"], input["new_string"]]
        : [];
  if (typeof path !== "string" || typeof after !== "string") return undefined;
  return diffContent(path, typeof before === "string" && before !== "" ? before : undefined, after, folder);
};

const displayText = (display: Exclude<ToolDisplay, { type: "diff" }>): string =>
  display.type === "text" ? display.text : [display.title, ...display.lines].join("\n");

const outcomeText = (content: readonly Content[]): string =>
  content
    .flatMap((part) =>
      part.type === "text" ? [part.text] : part.type === "structured" ? [JSON.stringify(part.value, undefined, 2)] : [],
    )
    .join("\n");

const mediaContent = (media: Media, blobs: Blobs): ToolCallContent => ({
  type: "content",
  content: mediaBlock(media, blobs),
});

/** Media as a content block: with its bytes where they are there, else as a link or by name. */
export const mediaBlock = (media: Media, blobs: Blobs): ContentBlock => {
  const { kind, mimeType, source, name } = media;
  if (source.type === "uri") return { type: "resource_link", uri: source.uri, name: name ?? source.uri, mimeType };
  const data = blobs[source.hash];
  if (data === undefined) return { type: "text", text: `[${name ?? media.id}: ${mimeType}, no longer stored]` };
  if (kind === "image" || kind === "audio") return { type: kind, data, mimeType };
  return {
    type: "resource",
    resource: { uri: `parley:///${media.id}/${encodeURIComponent(name ?? "file")}`, mimeType, blob: data },
  };
};
