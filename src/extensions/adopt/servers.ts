import { join } from "node:path";
import { isObject } from "../../conversation/json.ts";
import { parseSettings } from "../../policy/trust/settings-json.ts";
import { toPlainValue } from "../../settings/file/node.ts";
import { checkValue, formatIssue } from "../../settings/schema/check.ts";
import { serverShape } from "../../settings/schema/mcp-server-shape.ts";
import type { McpServerSettings } from "../../settings/schema/values.ts";
import { findAgentHome, type PermissionLocations } from "../permissions/find.ts";

/** An MCP server of another agent in our form. Values of its variables and headers are replaced by references. */
export type FoundServer = {
  readonly file: string;
  readonly name: string;
  readonly settings: McpServerSettings;
  /** The environment variables that must be set, as their values were not copied. */
  readonly variables: readonly string[];
  /** Why it cannot be taken over. */
  readonly problem?: string;
};

/** Describes a server for people: its name, and the program that is started or the host that is contacted. */
export const describeServer = ({ name, settings: { command, args = [], url, httpUrl } }: FoundServer): string => {
  const target = command === undefined ? (url ?? httpUrl) : [command, ...args].join(" ");
  return target === undefined ? name : `${name}: ${target}`;
};

type ServerAgent = Parameters<typeof findAgentHome>[0];

/** Finds the MCP servers an agent has in its user settings. Those of Gemini CLI are read by Parley anyway. */
export const findServers = async (
  agent: ServerAgent,
  locations: PermissionLocations,
): Promise<readonly FoundServer[]> => {
  const { files, userHome } = locations;
  const home = findAgentHome(agent, locations);
  const sources: { readonly [each in ServerAgent]: readonly (readonly [file: string, key: string])[] } = {
    claude: [[join(userHome, ".claude.json"), "mcpServers"]],
    codex: [[join(home, "config.toml"), "mcp_servers"]],
    gemini: [],
    qwen: [[join(home, "settings.json"), "mcpServers"]],
    opencode: [[join(home, "opencode.json"), "mcp"]],
    pi: [],
  };
  const found = sources[agent].map(async ([file, key]) => {
    const read = await files.read(file, home.startsWith(`${userHome}/`) ? userHome : home);
    if (read === undefined || "refused" in read) return [];
    const value = await parseFile(file, read.text);
    const servers = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
    return Object.entries(isObject(servers) ? servers : {}).map(([name, server]) => convertServer(file, name, server));
  });
  return (await Promise.all(found)).flat();
};

const parseFile = async (file: string, text: string): Promise<unknown> => {
  if (file.endsWith(".toml")) {
    const { parse } = await import("smol-toml");
    try {
      return parse(text);
    } catch {
      return undefined;
    }
  }
  const parsed = await parseSettings(text);
  return parsed.ok ? toPlainValue(parsed.node) : undefined;
};

const convertServer = (file: string, name: string, given: unknown): FoundServer => {
  const empty = { file, name, settings: {}, variables: [] };
  if (!/^[\w.-]{1,64}$/.test(name)) return { ...empty, problem: "its name is not valid here" };
  if (!isObject(given)) return { ...empty, problem: "it is not an object" };
  const { fields, variables } = hideValues(readFields(given));
  const issue = checkValue(serverShape, fields, ["mcpServers", name]).find(({ level }) => level === "error");
  return issue === undefined
    ? { file, name, settings: fields as McpServerSettings, variables }
    : { ...empty, problem: formatIssue(issue) };
};

/** The fields that mean the same everywhere; opencode writes the command as a list and calls variables `environment`. */
const readFields = (given: { readonly [field: string]: unknown }): Record<string, unknown> => {
  const command = given["command"];
  const [program, ...args] = Array.isArray(command) ? (command as readonly unknown[]) : [command];
  const known = Object.fromEntries(
    ["args", "cwd", "url", "httpUrl", "headers", "includeTools", "excludeTools"].flatMap((field) =>
      given[field] === undefined ? [] : [[field, given[field]]],
    ),
  );
  const env = given["env"] ?? given["environment"];
  const type = given["type"];
  return {
    ...known,
    ...(program === undefined ? {} : { command: program }),
    ...(Array.isArray(command) ? { args } : {}),
    ...(env === undefined ? {} : { env }),
    ...(type === "http" || type === "sse" || type === "stdio" ? { type } : {}),
  };
};

/** Replaces the values of variables and headers by references to the environment: they may be secrets. */
const hideValues = (
  fields: Record<string, unknown>,
): { readonly fields: Record<string, unknown>; readonly variables: readonly string[] } => {
  const variables: string[] = [];
  const hide = (values: unknown, nameOf: (key: string) => string): unknown =>
    isObject(values)
      ? Object.fromEntries(
          Object.entries(values).map(([key, value]) => {
            if (typeof value !== "string" || /^(?:Bearer\s+)?\$\{?\w+\}?$/.test(value)) return [key, value];
            variables.push(nameOf(key));
            return [key, `\${${nameOf(key)}}`];
          }),
        )
      : values;
  return {
    fields: {
      ...fields,
      ...(fields["env"] === undefined ? {} : { env: hide(fields["env"], (key) => key) }),
      ...(fields["headers"] === undefined
        ? {}
        : { headers: hide(fields["headers"], (key) => key.replaceAll(/\W/g, "_").toUpperCase()) }),
    },
    variables,
  };
};
