import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { isObject } from "../conversation/json.ts";
import type { RawParams } from "./connection.ts";
import type { ClientFeatures } from "./updates.ts";

/** The capabilities of a client. Missing or null means no. */
export type ClientCapabilities = ClientFeatures & {
  readonly readFiles: boolean;
  readonly writeFiles: boolean;
  readonly terminalLogin: boolean;
  readonly forms: boolean;
  readonly urls: boolean;
};

/** Reads the capabilities of a client from its `initialize` request. */
export const readClientCapabilities = (params: RawParams): ClientCapabilities => {
  const given = objectAt(params, "clientCapabilities");
  const fs = objectAt(given, "fs");
  const session = objectAt(given, "session");
  const elicitation = objectAt(given, "elicitation");
  const meta = objectAt(given, "_meta");
  return {
    readFiles: fs["readTextFile"] === true,
    writeFiles: fs["writeTextFile"] === true,
    terminalLogin: objectAt(given, "auth")["terminal"] === true || meta["terminal-auth"] === true,
    forms: isObject(elicitation["form"]),
    urls: isObject(elicitation["url"]),
    notices: isObject(session["notices"]),
    compaction: isObject(session["compaction"]),
    terminalOutput: meta["terminal_output"] === true,
  };
};

const objectAt = (given: RawParams, name: string): RawParams => {
  const value = given[name];
  return isObject(value) ? value : {};
};

/** The capabilities of a client that said nothing. */
export const noCapabilities: ClientCapabilities = readClientCapabilities({});

/** The client, as a session sees it. */
export type SessionClient = {
  readonly capabilities: ClientCapabilities;
  readonly update: (update: SessionUpdate) => void;
  /** Sends a request about this session. Aborting the signal withdraws it. */
  readonly request: (method: string, params: object, signal?: AbortSignal) => Promise<unknown>;
};
