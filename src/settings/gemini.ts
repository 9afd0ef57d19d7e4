import { isApprovalMode } from "../policy/mode.ts";
import { parseRule } from "../policy/rules.ts";
import { parseSettings } from "../policy/settings-json.ts";
import { findingsIn, isFree, isObject, sentenceOf } from "./check.ts";
import { plainOf } from "./node.ts";
import type { Said } from "./read.ts";
import { serverShape } from "./server-shape.ts";
import type { Shape } from "./shape.ts";
import { table } from "./table.ts";
import type { Server, SettingPath, SomeSettings } from "./values.ts";

/** What a settings file of Gemini CLI means here: its older, flat form and its newer one. What has no meaning here is left alone. */
export const readGemini = (text: string, file: string): Said => {
  const parsed = parseSettings(text);
  const plain = parsed.ok ? plainOf(parsed.node) : undefined;
  if (!parsed.ok) return { values: {}, warnings: [`${file} is not used: ${parsed.problem}.`] };
  const found = meanings.flatMap(({ path, keys, read }) => {
    const given = keys.map((key) => valueAt(plain, key)).find((value) => value !== undefined);
    const value = given === undefined ? undefined : read(given, plain);
    return value === undefined || !isFree(findingsIn(table[path].shape, value, [path])) ? [] : [[path, value] as const];
  });
  return { values: Object.fromEntries(found) as SomeSettings, warnings: strangers(plain, file) };
};

/** What a setting here is called there, in the newer form first, and what its value means. */
type Meaning = {
  readonly path: SettingPath;
  readonly keys: readonly string[];
  readonly read: (given: unknown, plain: unknown) => unknown;
};

const asIs = (given: unknown): unknown => given;

const meanings: readonly Meaning[] = [
  { path: "model", keys: ["model.name", "model"], read: (given) => modelNamed(given) },
  {
    path: "permissions.mode",
    keys: ["general.defaultApprovalMode", "tools.approvalMode"],
    // Gemini CLI takes yolo from its command line alone.
    read: (given) => (isApprovalMode(given) && given !== "yolo" ? given : undefined),
  },
  { path: "permissions.allow", keys: ["tools.allowed", "allowedTools"], read: (given) => rulesIn(given) },
  { path: "permissions.deny", keys: ["tools.exclude", "excludeTools"], read: (given) => rulesIn(given) },
  { path: "permissions.only", keys: ["tools.core", "coreTools"], read: (given) => rulesIn(given) },
  {
    path: "sandbox",
    keys: ["tools.sandbox", "sandbox"],
    read: (given) => (given === true || (typeof given === "string" && given !== "false") ? true : undefined),
  },
  { path: "context.fileName", keys: ["context.fileName", "contextFileName"], read: (given) => [given].flat() },
  { path: "context.includeDirectories", keys: ["context.includeDirectories", "includeDirectories"], read: asIs },
  { path: "limits.maxTurns", keys: ["model.maxSessionTurns", "maxSessionTurns"], read: asIs },
  {
    path: "compaction",
    keys: ["model.compressionThreshold", "chatCompression.contextPercentageThreshold"],
    read: asIs,
  },
  {
    path: "ui.screenReader",
    keys: ["ui.accessibility.screenReader", "accessibility.screenReader"],
    read: asIs,
  },
  { path: "mcpServers", keys: ["mcpServers"], read: (given, plain) => serversIn(given, plain) },
];

const valueAt = (plain: unknown, key: string): unknown =>
  key
    .split(".")
    .reduce<unknown>((value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined), plain);

/** Names such as "auto" and "pro" are choices that only Gemini CLI can make. */
const modelNamed = (given: unknown): string | undefined =>
  typeof given === "string" && /^(models\/)?(gemini|gemma)-\S+$/.test(given)
    ? `google/${given.replace(/^models\//, "")}`
    : undefined;

const textsIn = (given: unknown): readonly string[] =>
  Array.isArray(given) ? given.filter((item) => typeof item === "string") : [];

/** A list of which nothing is known here is as good as none: as one of all that may run, it would stop everything. */
const rulesIn = (given: unknown): readonly string[] | undefined => {
  const rules = textsIn(given)
    .map(ruleNamed)
    .filter((rule) => parseRule(rule) !== undefined);
  return rules.length === 0 ? undefined : rules;
};

/** Older files name tools by their classes. */
const ruleNamed = (text: string): string => {
  const [, name = text, rest = ""] = /^(\w+)(\(.*\))?$/s.exec(text.trim()) ?? [];
  return `${toolNames[name] ?? name}${rest}`;
};

const toolNames: { readonly [name: string]: string | undefined } = {
  ShellTool: "run_shell_command",
  ReadFileTool: "read_file",
  ReadManyFilesTool: "read_many_files",
  WriteFileTool: "write_file",
  EditTool: "replace",
  GlobTool: "glob",
  GrepTool: "search_file_content",
  RipGrepTool: "search_file_content",
  grep_search: "search_file_content",
  LSTool: "list_directory",
  MemoryTool: "save_memory",
  WebFetchTool: "web_fetch",
  WebSearchTool: "google_web_search",
};

/** The servers that file allows, without what only Gemini CLI knows of them. */
const serversIn = (given: unknown, plain: unknown): { readonly [name: string]: Server } => {
  const only = valueAt(plain, "mcp.allowed") ?? valueAt(plain, "allowMCPServers");
  const never = textsIn(valueAt(plain, "mcp.excluded") ?? valueAt(plain, "excludeMCPServers"));
  const isWanted = (name: string): boolean => (!Array.isArray(only) || only.includes(name)) && !never.includes(name);
  return Object.fromEntries(
    Object.entries(isObject(given) ? given : {}).flatMap(([name, server]) => {
      const known = knownPart(server);
      return isWanted(name) && isFree(findingsIn(serverShape, known, [name])) ? [[name, known as Server]] : [];
    }),
  );
};

const knownPart = (server: unknown): unknown => knownIn(serverShape, server);

const knownIn = (shape: Shape, value: unknown): unknown => {
  if (shape.type !== "fields" || !isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, item]) => {
      const field = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined;
      return field === undefined ? [] : [[name, knownIn(field.shape, item)]];
    }),
  );
};

/** What was to be refused must not be lost in silence, nor a server that cannot be used. */
const strangers = (plain: unknown, file: string): readonly string[] => {
  const rules = ["tools.exclude", "excludeTools"]
    .flatMap((key) => textsIn(valueAt(plain, key)))
    .filter((text) => parseRule(ruleNamed(text)) === undefined)
    .map((text) => `${JSON.stringify(text)} is to be refused, and means nothing here`);
  const servers = valueAt(plain, "mcpServers");
  const unfit = Object.entries(isObject(servers) ? servers : {})
    .flatMap(([name, server]) => findingsIn(serverShape, knownPart(server), ["mcpServers", name]))
    .map((finding) => sentenceOf(finding).replace(/\.$/, ""));
  return [...rules, ...unfit].map((words) => `${file}: ${words}.`);
};
