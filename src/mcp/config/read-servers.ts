import { createHash } from "node:crypto";
import { isObject } from "../../conversation/json.ts";
import { displayCommand } from "../../policy/terminal/sanitize.ts";
import type { Environment } from "../../world/world.ts";
import type { SamplingPolicy } from "../requests/handlers.ts";
import { readFields, type ServerFields } from "./fields.ts";
import { readSignInConfig, type SignInConfig } from "./oauth.ts";

/** A server as it is configured, with its variables filled in. */
export type McpServerConfig = {
  readonly name: string;
  readonly source: ConfigSource;
  readonly endpoint: ServerEndpoint;
  /** How long a request may take without a word of progress, in milliseconds. */
  readonly timeout: number;
  /** Whether the person lets its tools run without being asked. */
  readonly trust: boolean;
  /** Whether a model may answer it; where nothing is said, the person is asked. */
  readonly sampling?: SamplingPolicy;
  /** The only tools to offer, where there is such a list. */
  readonly includeTools?: readonly string[];
  readonly excludeTools: readonly string[];
  /** Of all that says what is started or reached, to the byte. */
  readonly digest: string;
};

/** Who wrote a configuration: the person, in settings or on the command line, or the project they stand in. */
export type ConfigSource = "person" | "line" | "project";

/** How a server is reached. `web` is an address that may speak either protocol. */
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

/** The servers that can be used, and in words what is wrong with the others. */
export type McpServerConfigs = { readonly servers: readonly McpServerConfig[]; readonly problems: readonly string[] };

/** How long a request may take where nothing is said: what users of Gemini CLI know. */
const defaultTimeout = 600_000;

/**
 * Reads `mcpServers` in the shape Gemini CLI and Claude have. Variables come from the person's environment alone. One
 * entry that makes no sense does not take the others with it.
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

const readServerConfig = (name: string, value: unknown, from: ConfigSource, env: Environment): ServerConfigResult => {
  const path = `mcpServers.${displayCommand(name)}`;
  if (name.trim() === "" || name.length > 100)
    return { problems: [`${path}: a server needs a name of at most 100 characters.`] };
  if (!isObject(value)) return { problems: [`${path} must be an object.`] };
  const { fields, problems } = readFields(value, env);
  const signIn = fields.oauth && readSignInConfig(fields.oauth);
  if (problems.length > 0) return { problems: problems.map((problem) => `${path}${problem}`) };
  if (signIn !== undefined && "problem" in signIn) return { problems: [`${path}.oauth: ${signIn.problem}`] };
  const reach = readEndpoint(fields, signIn);
  if (reach === undefined) return { problems: [`${path}: ${noEndpoint}`] };
  const { timeout = defaultTimeout, trust = false, sampling, includeTools, excludeTools = [] } = fields;
  const isOwn = from !== "project";
  return {
    config: {
      name,
      source: from,
      endpoint: reach,
      timeout,
      trust: trust && isOwn,
      ...(sampling === undefined || (sampling === "allow" && !isOwn) ? {} : { sampling }),
      ...(includeTools === undefined ? {} : { includeTools }),
      excludeTools,
      digest: digestOf([name, reach]),
    },
    problems: isOwn
      ? []
      : [
          ...(trust ? [`${path}.trust has no effect: only the person's own settings can trust a server.`] : []),
          ...(sampling === "allow"
            ? [`${path}.sampling has no effect: only the person's own settings can allow that unasked.`]
            : []),
        ],
  };
};

const noEndpoint = "a server needs a command to start, or a url or httpUrl to reach, and not both.";

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

/** A digest of any plain value, in which two different values never look the same. */
export const digestOf = (value: unknown): string => createHash("sha256").update(JSON.stringify(value)).digest("hex");

/** What is started or reached, for people: all of it on the screen, whatever it holds. */
export const formatEndpoint = (reach: ServerEndpoint): string =>
  displayCommand(reach.type === "stdio" ? [reach.command, ...reach.args].map(quoteWord).join(" ") : reach.url);

const quoteWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
