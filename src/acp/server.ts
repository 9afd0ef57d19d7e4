import type { AuthMethod } from "@agentclientprotocol/sdk";
import { version } from "../world/version.ts";
import { noCapabilities, readClientCapabilities, type ClientCapabilities } from "./client.ts";
import { Connection, type RawParams } from "./connection.ts";
import { agentCapabilities, isSessionMethod } from "./methods.ts";
import { errorCodes, invalidParams, RpcError } from "./rpc-error.ts";
import type { AcpHost, AcpSessions } from "./sessions.ts";

/** The version of the protocol that is spoken. */
const protocolVersion = 1;

/**
 * The agent side of a connection. `initialize` is answered at once: keys, settings and everything else is loaded after
 * it, by `loadHost`.
 */
export class AcpServer {
  readonly connection: Connection;
  readonly #loadHost: () => Promise<AcpHost>;
  #capabilities: ClientCapabilities = noCapabilities;
  #sessions: Promise<AcpSessions> | undefined;

  constructor(write: (line: string) => void, loadHost: () => Promise<AcpHost>) {
    this.#loadHost = loadHost;
    this.connection = new Connection(write, {
      request: (method, params, signal) => this.#answer(method, params, signal),
      notification: (method, params) => this.#receive(method, params),
    });
  }

  /** Cancels what runs, closes all sessions and ends their processes. */
  async close(): Promise<void> {
    this.connection.close();
    const sessions = await this.#sessions?.catch(() => undefined);
    await sessions?.closeAll();
  }

  async #answer(method: string, params: RawParams, signal: AbortSignal): Promise<object> {
    if (method === "initialize") return this.#initialize(params);
    if (method === "authenticate") return (await this.#open()).authenticate(params);
    if (isSessionMethod(method)) return (await this.#open()).answer(method, params, signal);
    throw new RpcError(errorCodes.methodNotFound, `Unknown method ${JSON.stringify(method.slice(0, 60))}.`);
  }

  #receive(method: string, params: RawParams): void {
    if (method === "session/cancel") void this.#sessions?.then((sessions) => sessions.cancel(params));
  }

  #initialize(params: RawParams): object {
    const requested = params["protocolVersion"];
    if (typeof requested !== "number" || !Number.isInteger(requested))
      throw invalidParams("protocolVersion must be a whole number, such as 1.");
    this.#capabilities = readClientCapabilities(params);
    // What the next request needs is loaded while the client reads this answer.
    setImmediate(() => void this.#open().catch(() => undefined));
    return {
      protocolVersion,
      agentCapabilities: agentCapabilities(),
      authMethods: authMethods(this.#capabilities),
      agentInfo: { name: "parley", title: "Parley", version },
    };
  }

  #open(): Promise<AcpSessions> {
    this.#sessions ??= (async () => {
      const [{ AcpSessions }, host] = await Promise.all([import("./sessions.ts"), this.#loadHost()]);
      return new AcpSessions(host, this.connection, this.#capabilities);
    })();
    return this.#sessions;
  }
}

/** How to sign in. Registries require at least one; some clients use the first at once, so it needs no interaction. */
const authMethods = ({ terminalLogin }: ClientCapabilities): readonly AuthMethod[] => [
  {
    id: "environment",
    name: "Use your keys",
    description: "API keys from the environment, or an existing sign-in. See parley doctor.",
  },
  ...(terminalLogin ? [terminalLoginMethod] : []),
];

const terminalLoginMethod: AuthMethod = {
  type: "terminal",
  id: "terminal-login",
  name: "Set up a key",
  description: "Stores an API key, or signs in with Google, in a terminal (parley login).",
  args: ["--login"],
  _meta: { "terminal-auth": { label: "Set up a key", command: "parley", args: ["login"] } },
};
