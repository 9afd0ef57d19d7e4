import { readServerConfigs, formatEndpoint, type McpServerConfig } from "../mcp/config/read-servers.ts";
import { openConsentStore } from "../policy/trust/consents.ts";
import type { ConsentRequest } from "../policy/trust/project-settings.ts";
import { isObject } from "../conversation/json.ts";
import type { Disk } from "../world/disk.ts";
import { invalidParams } from "./rpc-error.ts";

/** The MCP servers a client passes, and which of them the person has to be asked about. */
export type OfferedServers = {
  /** Their configurations in the format of settings. */
  readonly configs: Readonly<Record<string, unknown>>;
  /** Whether the person allowed or declined a server before; undefined if they were never asked. */
  readonly answers: ReadonlyMap<string, boolean>;
  readonly unanswered: readonly ServerConsent[];
};

/** A server that needs consent, with the text that is shown for it. */
export type ServerConsent = { readonly name: string; readonly text: string; readonly request: ConsentRequest };

/** Where answers are stored. */
type ConsentPlace = { readonly disk: Disk; readonly home: string; readonly folder: string };

/**
 * Reads the servers of a client. They may come from a project's files, so the same consent is needed as for the servers
 * of a project: an answer holds for exactly this program, arguments and address.
 */
export const readOfferedServers = async (given: unknown, place: ConsentPlace): Promise<OfferedServers | undefined> => {
  if (!Array.isArray(given)) throw invalidParams("mcpServers must be a list.");
  if (given.length === 0) return undefined;
  const configs = Object.fromEntries((given as readonly unknown[]).map(readServer));
  const { servers } = readServerConfigs(configs, { from: "project", env: {} });
  const consents = openConsentStore(place.disk, place.home);
  const wanted = servers.map(consentFor);
  const requests = wanted.map(({ request }) => request);
  const missing = await consents.findMissing(place.folder, requests);
  const unanswered = await consents.findUnanswered(place.folder, requests);
  return {
    configs,
    answers: new Map(
      wanted.flatMap(({ name, request }) =>
        unanswered.includes(request) ? [] : [[name, !missing.includes(request)] as const],
      ),
    ),
    unanswered: wanted.filter(({ request }) => unanswered.includes(request)),
  };
};

/** Stores that the person always allows a server in this folder. */
export const allowServer = async ({ request }: ServerConsent, { disk, home, folder }: ConsentPlace): Promise<void> =>
  openConsentStore(disk, home).agree(folder, request);

const readServer = (given: unknown): readonly [name: string, config: object] => {
  const { name, type, command, args, env, url, headers } = isObject(given) ? given : {};
  if (typeof name !== "string" || name === "") throw invalidParams("Every MCP server needs a name.");
  if (type === "http" || type === "sse") return [name, { type, url, headers: pairs(headers) }];
  if (type !== undefined && type !== "stdio") throw invalidParams(`Unknown type of MCP server ${name}.`);
  return [name, { command, args, env: pairs(env) }];
};

/** Variables and headers come as lists of names and values. */
const pairs = (given: unknown): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    (Array.isArray(given) ? (given as readonly unknown[]) : []).flatMap((each) =>
      isObject(each) && typeof each["name"] === "string" ? [[each["name"], each["value"]] as const] : [],
    ),
  );

const consentFor = ({ name, endpoint, digest }: McpServerConfig): ServerConsent => {
  const given = endpoint.type === "stdio" ? Object.keys(endpoint.env) : Object.keys(endpoint.headers);
  const text = [
    formatEndpoint(endpoint),
    ...(given.length === 0 ? [] : [`with ${endpoint.type === "stdio" ? "variables" : "headers"} ${given.join(", ")}`]),
  ].join("\n");
  return { name, text, request: { key: `mcpServers.${name}`, text, digest } };
};
