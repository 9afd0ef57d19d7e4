import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { AcpServer } from "../../src/acp/server.ts";
import type { AcpHost } from "../../src/acp/sessions.ts";
import { bin } from "../built.ts";

/** A JSON object. Tests compare whole values, so its fields need no types. */
// oxlint-disable-next-line typescript/no-explicit-any -- with unknown, every step into a message needs a check.
export type Json = { readonly [name: string]: any };

type Definition = { readonly "x-method"?: string; readonly "x-side"?: string };

const schemaPath = createRequire(import.meta.url).resolve("@agentclientprotocol/sdk/schema/v1/schema.json");
const schema = JSON.parse(readFileSync(schemaPath, "utf8")) as { readonly $defs: Readonly<Record<string, Definition>> };
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true }).addSchema(schema, "acp");

/** The validators of the protocol's own schema, by method and kind of message. */
const validators = new Map<string, ValidateFunction>();
for (const [name, { "x-method": method, "x-side": side }] of Object.entries(schema.$defs)) {
  const kind = name.endsWith("Response") ? "response" : "params";
  const validate = ajv.getSchema(`acp#/$defs/${name}`);
  if (method !== undefined && validate !== undefined) validators.set(`${side} ${kind} ${method}`, validate);
}

/** Throws if a line of the agent is not valid by the protocol's schema. */
const checkLine = (message: Json, methodOf: (id: unknown) => string | undefined): void => {
  if (message["jsonrpc"] !== "2.0") throw new Error(`Not JSON-RPC: ${JSON.stringify(message)}`);
  const { method, id, params, result, error } = message;
  if (error !== undefined) {
    if (typeof error.code !== "number" || typeof error.message !== "string")
      throw new Error(`Not an error: ${JSON.stringify(message)}`);
    return;
  }
  const asked = method ?? methodOf(id);
  // Not in the schema: a method of older clients.
  if (asked === "session/set_model") return;
  const side = method === "$/cancel_request" ? "protocol" : method === undefined ? "agent" : "client";
  const validate = validators.get(`${side} ${method === undefined ? "response" : "params"} ${asked}`);
  if (validate === undefined) throw new Error(`Not a message of the protocol: ${JSON.stringify(message)}`);
  if (!validate(method === undefined ? result : params))
    throw new Error(`Invalid ${asked}: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(message).slice(0, 2000)}`);
};

/** An error answer of the agent. */
export class AcpError extends Error {
  readonly code: number;
  readonly data: Json | undefined;

  constructor({ code, message, data }: Json) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** A client that validates every line it gets and keeps all messages in order. */
export class AcpTestClient {
  /** Every message of both directions, in order. */
  readonly messages: { readonly from: "agent" | "client"; readonly message: Json }[] = [];
  /** Answers requests of the agent, by method; a missing one is answered with an error. */
  readonly handlers: Record<string, (params: Json, id: number) => Promise<Json> | Json> = {};
  /** Called with every message of the agent after it was handled. */
  onMessage: (message: Json) => void = () => undefined;
  readonly #send: (line: string) => void;
  readonly #pending = new Map<
    unknown,
    { method: string; resolve: (value: Json) => void; reject: (e: Error) => void }
  >();
  readonly #answered = new Set<unknown>();
  #nextId = 0;
  /** Problems of lines that were received. */
  readonly problems: string[] = [];

  constructor(send: (line: string) => void) {
    this.#send = send;
  }

  get updates(): readonly Json[] {
    return this.messages.flatMap(({ from, message }) =>
      from === "agent" && message["method"] === "session/update" ? [message["params"].update as Json] : [],
    );
  }

  receive(line: string): void {
    try {
      const message = JSON.parse(line) as Json;
      this.messages.push({ from: "agent", message });
      checkLine(message, (id) => this.#pending.get(id)?.method);
      this.#handle(message);
      this.onMessage(message);
    } catch (error) {
      this.problems.push(error instanceof Error ? error.message : String(error));
      for (const { reject } of this.#pending.values()) reject(error as Error);
    }
  }

  request(method: string, params: Json = {}): Promise<Json> {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { method, resolve, reject });
      this.send({ jsonrpc: "2.0", id, method, params });
    });
  }

  notify(method: string, params: Json): void {
    this.send({ jsonrpc: "2.0", method, params });
  }

  send(message: Json): void {
    this.messages.push({ from: "client", message });
    this.#send(`${JSON.stringify(message)}\n`);
  }

  initialize(capabilities: Json = {}): Promise<Json> {
    return this.request("initialize", { protocolVersion: 1, clientCapabilities: capabilities });
  }

  /** Sends a prompt of one text. */
  prompt(sessionId: string, text: string): Promise<Json> {
    return this.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  }

  /** The text of all message chunks. */
  text(): string {
    return this.updates
      .flatMap((update) => (update["sessionUpdate"] === "agent_message_chunk" ? [update["content"].text] : []))
      .join("");
  }

  #handle(message: Json): void {
    const { id, method, params, result, error } = message;
    if (method !== undefined) {
      if (id !== undefined) void this.#answer(id, method, params);
      return;
    }
    const pending = this.#pending.get(id);
    if (this.#answered.has(id)) throw new Error(`Answered twice: ${JSON.stringify(message)}`);
    if (id === null) return;
    if (pending === undefined) throw new Error(`Answer to nothing: ${JSON.stringify(message)}`);
    this.#answered.add(id);
    this.#pending.delete(id);
    if (error === undefined) pending.resolve(result);
    else pending.reject(new AcpError(error));
  }

  async #answer(id: number, method: string, params: Json): Promise<void> {
    const handler = this.handlers[method];
    if (handler === undefined) return this.send({ jsonrpc: "2.0", id, error: { code: -32601, message: "Unknown." } });
    this.send({ jsonrpc: "2.0", id, result: await handler(params, id) });
  }
}

/** Connects a client to a server in this process. */
export const connectInProcess = (host: AcpHost): { readonly client: AcpTestClient; readonly server: AcpServer } => {
  const server = new AcpServer(
    (line) => client.receive(line),
    async () => host,
  );
  const client: AcpTestClient = new AcpTestClient((line) => server.connection.receive(line));
  return { client, server };
};

/** The built program as a server, and a client connected to it. */
export type ServedProgram = {
  readonly client: AcpTestClient;
  readonly child: ChildProcess;
  readonly stderr: () => string;
  /** Ends the input and resolves to the exit code. */
  readonly close: () => Promise<number | null>;
};

/** Starts `parley acp` and connects a client. */
export const serveProgram = (
  args: readonly string[],
  { env, cwd, preload }: { readonly env: NodeJS.ProcessEnv; readonly cwd: string; readonly preload?: string },
): ServedProgram => {
  const child = spawn(process.execPath, [...(preload ? ["--import", preload] : []), bin, "acp", ...args], {
    cwd,
    env,
    stdio: ["pipe", "pipe", "pipe"],
  });
  let err = "";
  child.stdin.on("error", () => undefined);
  child.stderr.on("data", (chunk: Buffer) => (err += String(chunk)));
  const client = new AcpTestClient((line) => child.stdin.write(line));
  createInterface({ input: child.stdout }).on("line", (line) => client.receive(line));
  return {
    client,
    child,
    stderr: () => err,
    close: async () => {
      const ended = once(child, "close");
      child.stdin.end();
      const [code] = (await ended) as [number | null];
      return code;
    },
  };
};
