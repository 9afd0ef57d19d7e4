import { isObject, type JsonObject } from "../../../conversation/json.ts";
import { RemoteAgentError } from "./remote-agent-error.ts";

/** How an agent is spoken to: where, in which binding and version of A2A. */
export type AgentInterface = {
  readonly url: string;
  readonly binding: "JSONRPC" | "HTTP+JSON";
  readonly version: "1.0" | "0.3";
  readonly tenant?: string;
  readonly streams: boolean;
};

/**
 * Chooses the interface of a card: the first of version 1, else one of 0.3 over JSON-RPC. It must be on the server that
 * the person agreed to: a card cannot lead requests, and credentials with them, elsewhere.
 */
export const chooseInterface = (card: JsonObject, cardUrl: string): AgentInterface => {
  const { capabilities } = card as { readonly capabilities?: unknown };
  const streams = isObject(capabilities) && capabilities["streaming"] === true;
  const offered = listInterfaces(card);
  const isRemote = (version: RegExp, bindings: readonly string[]) => (each: OfferedInterface) =>
    version.test(each.version) && bindings.includes(each.binding);
  const chosen =
    offered.find(isRemote(/^1(\.|$)/, ["JSONRPC", "HTTP+JSON"])) ?? offered.find(isRemote(/^0\.3(\.|$)/, ["JSONRPC"]));
  if (chosen === undefined)
    throw new RemoteAgentError(
      offered.length === 0
        ? "Its card names no interface."
        : `Its card offers ${offered
            .map(({ binding, version }) => `${binding} ${version}`)
            .join(", ")
            .slice(0, 200)}; Parley speaks JSON-RPC and HTTP+JSON 1.0, and JSON-RPC 0.3.`,
    );
  const url = URL.canParse(chosen.url, cardUrl) ? new URL(chosen.url, cardUrl) : undefined;
  const own = new URL(cardUrl);
  if (url === undefined || url.origin !== own.origin || url.username !== "" || url.password !== "")
    throw new RemoteAgentError(
      `Its card leads to another server, ${(url?.origin ?? chosen.url).slice(0, 200)}, than the one of its file, ${own.origin}. If that is right, put the card of that server into the file.`,
    );
  url.hash = "";
  return {
    url: url.href.replace(/\/+$/, ""),
    binding: chosen.binding as AgentInterface["binding"],
    version: chosen.version.startsWith("0") ? "0.3" : "1.0",
    ...(chosen.tenant === undefined ? {} : { tenant: chosen.tenant }),
    streams,
  };
};

type OfferedInterface = {
  readonly url: string;
  readonly binding: string;
  readonly version: string;
  readonly tenant?: string;
};

/** The interfaces of a card of 1.0, or of 0.3, in the agent's order. */
const listInterfaces = (card: JsonObject): readonly OfferedInterface[] => {
  const { supportedInterfaces, additionalInterfaces } = card as { readonly [field: string]: unknown };
  const newer = (Array.isArray(supportedInterfaces) ? supportedInterfaces : []).flatMap((each: unknown) =>
    isObject(each) ? offer(each["url"], each["protocolBinding"], each["protocolVersion"] ?? "1.0", each["tenant"]) : [],
  );
  if (newer.length > 0) return newer.slice(0, maxInterfaces);
  const version = card["protocolVersion"] ?? "0.3.0";
  const others = (Array.isArray(additionalInterfaces) ? additionalInterfaces : []).flatMap((each: unknown) =>
    isObject(each) ? offer(each["url"], each["transport"], version) : [],
  );
  return [...offer(card["url"], card["preferredTransport"] ?? "JSONRPC", version), ...others].slice(0, maxInterfaces);
};

const maxInterfaces = 50;

const offer = (url: unknown, binding: unknown, version: unknown, tenant?: unknown): readonly OfferedInterface[] =>
  typeof url === "string" && typeof binding === "string" && typeof version === "string"
    ? [{ url, binding, version, ...(typeof tenant === "string" && tenant !== "" ? { tenant } : {}) }]
    : [];
