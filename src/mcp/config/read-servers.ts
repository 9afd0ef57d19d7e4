import { createHash } from "node:crypto";
import { isObject } from "../../conversation/json.ts";
import { displayCommand } from "../../policy/terminal/sanitize.ts";
import type { Environment } from "../../world/world.ts";
import type { SamplingPolicy } from "../requests/handlers.ts";
import { readFields, type ServerFields } from "./fields.ts";
import { readSignInConfig, type SignInConfig } from "./oauth.ts";

/** A server's configuration with variables expanded. */
export type McpServerConfig = {
  readonly name: string;
  readonly source: ConfigSource;
  readonly endpoint: ServerEndpoint;
  /** Milliseconds a request may take without a progress notification. */
  readonly timeout: number;
  /** Whether the user lets its tools run without asking. */
  readonly trust: boolean;
  /** Whether a model may answer it; by default the user is asked. */
  readonly sampling?: SamplingPolicy;
  /** The only tools to offer, where such a list is configured. */
  readonly includeTools?: readonly string[];
  readonly excludeTools: readonly string[];
  /** A digest of everything that decides what is started or reached. */
  readonly digest: string;
};

/** Where a configuration comes from: the user's settings, the command line, or the project. */
export type ConfigSource = "person" | "line" | "project";

/** How a server is reached. `web` is a URL that may speak either protocol. */
export type ServerEndpoint =
  | {
      readonly type: "stdio";
      readonly command: string;
      readonly args: readonly string[];
      readonly env: { readonly [name: string]: string };
      readonly cwd?: string;
    }
  | {
      readonly type: "http" | "sse" | "web";
      readonly url: string;
      readonly headers: { readonly [name: string]: string };
      readonly signIn?: SignInConfig;
    };

/** The usable configurations, and messages about the others. */
export type McpServerConfigs = { readonly servers: readonly McpServerConfig[]; readonly problems: readonly string[] };

/** The default request timeout: the same as in Gemini CLI. */
const defaultTimeout = 600_000;

/**
 * Reads `mcpServers` in the format of Gemini CLI and Claude. Variables come from the user's environment alone. An
 * invalid entry does not affect the others.
 */
export const readServerConfigs = (
  given: unknown,
  { from, env }: { readonly from: ConfigSource; readonly env: Environment },
): McpServerConfigs => {
  if (given === undefined) return { servers: [], problems: [] };
  if (!isObject(given)) return { servers: [], problems: ["mcpServers must be an object of servers by name."] };
  const read = Object.entries(given).map(([name, value]) => readServerConfig(name, value, from, env));
  return {
    servers: read.flatMap((one) => ("config" in one ? [one.config] : [])),
    problems: read.flatMap((one) => one.problems),
  };
};

type ServerConfigResult =
  | { readonly config: McpServerConfig; readonly problems: readonly string[] }
  | { readonly problems: readonly string[] };

const readServerConfig = (name: string, value: unknown, source: ConfigSource, env: Environment): ServerConfigResult => {
  const path = `mcpServers.${displayCommand(name)}`;
  if (name.trim() === "" || name.length > 100)
    return { problems: [`${path}: a server needs a name of at most 100 characters.`] };
  if (!isObject(value)) return { problems: [`${path} must be an object.`] };
  const { fields, problems } = readFields(value, env);
  const signIn = fields.oauth && readSignInConfig(fields.oauth);
  if (problems.length > 0) return { problems: problems.map((problem) => `${path}${problem}`) };
  if (signIn !== undefined && "problem" in signIn) return { problems: [`${path}.oauth: ${signIn.problem}`] };
  const endpoint = readEndpoint(fields, signIn);
  if (endpoint === undefined) return { problems: [`${path}: ${noEndpoint}`] };
  const { timeout = defaultTimeout, trust = false, sampling, includeTools, excludeTools = [] } = fields;
  const isOwn = source !== "project";
  return {
    config: {
      name,
      source,
      endpoint,
      timeout,
      trust: trust && isOwn,
      ...(sampling === undefined || (sampling === "allow" && !isOwn) ? {} : { sampling }),
      ...(includeTools === undefined ? {} : { includeTools }),
      excludeTools,
      digest: digestOf([name, endpoint]),
    },
    problems: isOwn
      ? []
      : [
          ...(trust ? [`${path}.trust has no effect: only your own settings can trust a server.`] : []),
          ...(sampling === "allow"
            ? [`${path}.sampling has no effect: only your own settings can allow sampling without asking.`]
            : []),
        ],
  };
};

const noEndpoint = "a server needs either a command, or a url or httpUrl.";

const readEndpoint = (fields: ServerFields, signIn: SignInConfig | undefined): ServerEndpoint | undefined => {
  const { command, args = [], env = {}, cwd, url, httpUrl, headers = {}, type } = fields;
  const address = httpUrl ?? url;
  if (command !== undefined)
    return address === undefined
      ? { type: "stdio", command, args, env, ...(cwd === undefined ? {} : { cwd }) }
      : undefined;
  if (address === undefined) return undefined;
  const spoken = httpUrl !== undefined || type === "http" ? "http" : type === "sse" ? "sse" : "web";
  return { type: spoken, url: address, headers, ...(signIn === undefined ? {} : { signIn }) };
};

/** A digest of any JSON value; different values have different digests. */
export const digestOf = (value: unknown): string => createHash("sha256").update(JSON.stringify(value)).digest("hex");

/** The whole command line or URL, sanitized for display. */
export const formatEndpoint = (reach: ServerEndpoint): string =>
  displayCommand(reach.type === "stdio" ? [reach.command, ...reach.args].map(quoteWord).join(" ") : reach.url);

const quoteWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
