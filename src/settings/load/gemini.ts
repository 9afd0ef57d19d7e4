import { isApprovalMode } from "../../policy/gate/approval-mode.ts";
import { parsePermissionRule } from "../../policy/gate/permission-rules.ts";
import { findToolName } from "../../policy/gate/tool-names.ts";
import { isObject } from "../../conversation/json.ts";
import { parseSettings } from "../../policy/trust/settings-json.ts";
import { checkValue, hasNoErrors, formatIssue } from "../schema/check.ts";
import { toPlainValue } from "../file/node.ts";
import type { SettingsReadResult } from "../file/read.ts";
import { serverShape } from "../schema/mcp-server-shape.ts";
import type { Shape } from "../schema/shape.ts";
import { settingsTable } from "../schema/table.ts";
import type { McpServerSettings, SettingPath, PartialSettings } from "../schema/values.ts";

/** Reads a Gemini CLI settings file, in its older flat or its newer form. Settings without an equivalent are ignored. */
export const readGeminiSettings = async (text: string, file: string): Promise<SettingsReadResult> => {
  const parsed = await parseSettings(text);
  const plain = parsed.ok ? toPlainValue(parsed.node) : undefined;
  if (!parsed.ok) return { values: {}, warnings: [`${file} is not used: ${parsed.problem}`] };
  const found = geminiMappings.flatMap(({ path, keys, read }) => {
    const given = keys.map((key) => valueAt(plain, key)).find((value) => value !== undefined);
    const value = given === undefined ? undefined : read(given, plain);
    return value === undefined || !hasNoErrors(checkValue(settingsTable[path].shape, value, [path]))
      ? []
      : [[path, value] as const];
  });
  return { values: Object.fromEntries(found) as PartialSettings, warnings: collectWarnings(plain, file) };
};

/** A setting, its Gemini CLI keys (the newer first), and the conversion of its value. */
type GeminiMapping = {
  readonly path: SettingPath;
  readonly keys: readonly string[];
  readonly read: (given: unknown, plain: unknown) => unknown;
};

const asIs = (given: unknown): unknown => given;

const geminiMappings: readonly GeminiMapping[] = [
  { path: "model", keys: ["model.name", "model"], read: (given) => parseModelName(given) },
  {
    path: "permissions.mode",
    keys: ["general.defaultApprovalMode", "tools.approvalMode"],
    // Gemini CLI accepts yolo on its command line only.
    read: (given) => (isApprovalMode(given) && given !== "yolo" ? given : undefined),
  },
  { path: "permissions.allow", keys: ["tools.allowed", "allowedTools"], read: (given) => parseRules(given) },
  { path: "permissions.deny", keys: ["tools.exclude", "excludeTools"], read: (given) => parseRules(given) },
  { path: "permissions.only", keys: ["tools.core", "coreTools"], read: (given) => parseRules(given) },
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
  { path: "mcpServers", keys: ["mcpServers"], read: (given, plain) => selectServers(given, plain) },
];

const valueAt = (plain: unknown, key: string): unknown =>
  key
    .split(".")
    .reduce<unknown>((value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined), plain);

/** Aliases such as "auto" and "pro" are resolved by Gemini CLI, so they are ignored. */
const parseModelName = (given: unknown): string | undefined =>
  typeof given === "string" && /^(models\/)?(gemini|gemma)-\S+$/.test(given)
    ? `google/${given.replace(/^models\//, "")}`
    : undefined;

const listStrings = (given: unknown): readonly string[] =>
  Array.isArray(given) ? given.filter((item) => typeof item === "string") : [];

/** Ignores a list without a known rule: as `permissions.only`, an empty list would deny everything. */
const parseRules = (given: unknown): readonly string[] | undefined => {
  const rules = listStrings(given)
    .map(renameTool)
    .filter((rule) => parsePermissionRule(rule) !== undefined);
  return rules.length === 0 ? undefined : rules;
};

/** Older files name tools by class name. */
const renameTool = (text: string): string => {
  const [, name = text, rest = ""] = /^(\w+)(\(.*\))?$/s.exec(text.trim()) ?? [];
  return `${findToolName(name) ?? name}${rest}`;
};

/** Selects the servers the file allows, without fields only Gemini CLI knows. */
const selectServers = (given: unknown, plain: unknown): { readonly [name: string]: McpServerSettings } => {
  const only = valueAt(plain, "mcp.allowed") ?? valueAt(plain, "allowMCPServers");
  const never = listStrings(valueAt(plain, "mcp.excluded") ?? valueAt(plain, "excludeMCPServers"));
  const isWanted = (name: string): boolean => (!Array.isArray(only) || only.includes(name)) && !never.includes(name);
  return Object.fromEntries(
    Object.entries(isObject(given) ? given : {}).flatMap(([name, server]) => {
      const known = keepKnownFields(server);
      return isWanted(name) && hasNoErrors(checkValue(serverShape, known, [name]))
        ? [[name, known as McpServerSettings]]
        : [];
    }),
  );
};

const keepKnownFields = (server: unknown): unknown => keepKnown(serverShape, server);

const keepKnown = (shape: Shape, value: unknown): unknown => {
  if (shape.type !== "object" || !isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, item]) => {
      const field = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined;
      return field === undefined ? [] : [[name, keepKnown(field.shape, item)]];
    }),
  );
};

/** Warns about deny rules and servers that cannot be used, so that none is lost silently. */
const collectWarnings = (plain: unknown, file: string): readonly string[] => {
  const rules = ["tools.exclude", "excludeTools"]
    .flatMap((key) => listStrings(valueAt(plain, key)))
    .filter((text) => parsePermissionRule(renameTool(text)) === undefined)
    .map((text) => `${JSON.stringify(text)} is excluded there, but is not a rule Parley knows`);
  const servers = valueAt(plain, "mcpServers");
  const unfit = Object.entries(isObject(servers) ? servers : {})
    .flatMap(([name, server]) => checkValue(serverShape, keepKnownFields(server), ["mcpServers", name]))
    .map((finding) => formatIssue(finding).replace(/\.$/, ""));
  return [...rules, ...unfit].map((words) => `${file}: ${words}.`);
};
