import {
  Client,
  ProtocolError,
  SdkHttpError,
  type RequestOptions,
  type StandardSchemaV1,
} from "@modelcontextprotocol/client";
import type { JsonObject } from "../conversation/json.ts";
import { plain } from "../policy/plain.ts";
import { version } from "../world/version.ts";
import { permitted, type Asking } from "./asking.ts";
import { explained } from "./explain.ts";
import { answerRequests, capabilitiesFor } from "./requests.ts";
import { ProgressDesk, type Listening } from "./progress.ts";
import { attemptsFor, type Attempt, type TransportOptions } from "./transports.ts";
import { within } from "./within.ts";

/** What a server says of its own accord. */
export type ServerNews =
  | { readonly type: "closed" }
  | { readonly type: "list-changed"; readonly list: ListName }
  | { readonly type: "log"; readonly level: string; readonly text: string };

/** The lists a server can have. */
type ListName = "tools" | "resources" | "prompts";

export type ConnectionOptions = TransportOptions & {
  readonly asking: Asking;
  readonly tell: (news: ServerNews) => void;
};

/** How a request is made. `progress` hears how far it is. */
export type Asked = {
  readonly signal: AbortSignal;
  readonly timeout: number;
  readonly progress?: (text: string) => void;
};

/** A server that answers. */
export type Connection = {
  /** What it calls itself, made plain; empty where it does not. */
  readonly title: string;
  /** What it wants models to know of its tools; empty where it says nothing. */
  readonly instructions: string;
  readonly has: (list: ListName) => boolean;
  /** Asks anything. The answer is what came, unchecked. Rejects with a `ServerFailure`, or with the signal's reason. */
  readonly ask: (method: string, params: Readonly<Record<string, unknown>>, asked: Asked) => Promise<unknown>;
  /** Calls a tool, given as the server described it. */
  readonly call: (tool: JsonObject, input: JsonObject, asked: Asked) => Promise<unknown>;
  /** What it last wrote to its error output. */
  readonly lastWords: () => string;
  readonly tellRootsChanged: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** Connects to a server in the first way that works. */
export const connect = async (options: ConnectionOptions, asked: Asked): Promise<Connection> => {
  const attempts = attemptsFor(options);
  let failure: unknown;
  for (const [index, attempt] of attempts.entries()) {
    if (index > 0 && !mayMean(failure, attempts[index - 1])) continue;
    try {
      return await open(options, attempt, asked);
    } catch (error) {
      asked.signal.throwIfAborted();
      // The first way is the likeliest, so its complaint says most.
      failure ??= error;
    }
  }
  throw failure;
};

/** Whether a failure may mean that the server speaks another protocol. */
const mayMean = (failure: unknown, before: Attempt | undefined): boolean => {
  const cause = failure instanceof Error ? failure.cause : undefined;
  if (cause instanceof ProtocolError) return true;
  if (before?.lastWords !== undefined || !(cause instanceof SdkHttpError)) return false;
  return (
    cause.status !== undefined && cause.status >= 400 && cause.status < 500 && ![401, 403, 429].includes(cause.status)
  );
};

const open = async (options: ConnectionOptions, attempt: Attempt, asked: Asked): Promise<Connection> => {
  const { config, tell } = options;
  const asking = permitted(options.asking, config.sampling);
  const client = new Client(
    { name: "parley", version },
    {
      capabilities: capabilitiesFor(asking),
      versionNegotiation: { mode: attempt.negotiation, probe: { timeoutMs: 10_000 } },
      listChanged: Object.fromEntries(
        lists.map((list) => [
          list,
          { autoRefresh: false, debounceMs: 0, onChanged: () => tell({ type: "list-changed", list }) },
        ]),
      ),
      // Schemas of strangers are not compiled; what a tool answers is passed on as it is.
      jsonSchemaValidator: {
        getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
      },
    },
  );
  answerRequests(client, config.name, asking);
  client.setNotificationHandler("notifications/message", ({ params: { level, data } }) =>
    tell({ type: "log", level, text: logText(data) }),
  );
  const progress = new ProgressDesk();
  const ask: Connection["ask"] = (method, params, how) =>
    progress.during(how, params, (told, listening) =>
      request(
        listening,
        (given) => client.request({ method, params: told } as never, anything, given),
        options,
        attempt,
      ),
    );
  const transport = attempt.transport();
  transport.onmessage = (message) => progress.hear(message);
  try {
    await request(asked, (given) => client.connect(transport, given), options, attempt);
  } catch (error) {
    await client.close().catch(() => undefined);
    // The client may not have got as far as to know its transport.
    await transport.close().catch(() => undefined);
    throw error;
  }
  client.onclose = () => tell({ type: "closed" });
  const { tools, resources, prompts } = client.getServerCapabilities() ?? {};
  const offered = { tools, resources, prompts };
  const info = client.getServerVersion();
  return {
    title: plain(info?.title ?? info?.name ?? "", "line").slice(0, 200),
    instructions: plain(client.getInstructions() ?? "", "visible").slice(0, mostInstructions),
    has: (list) => offered[list] !== undefined,
    ask,
    call: (tool, input, how) => {
      const params = { name: tool["name"] as string, arguments: input };
      // The newer protocol repeats some arguments in headers, which only this method knows.
      if (client.getProtocolEra() !== "modern") return ask("tools/call", params, how);
      return progress.during(how, params, (told, listening) =>
        request(
          listening,
          (given) => client.callTool(told as typeof params, { ...given, toolDefinition: tool as never }),
          options,
          attempt,
        ),
      );
    },
    lastWords: attempt.lastWords ?? (() => ""),
    tellRootsChanged: async () => {
      if (asking.roots !== undefined) await client.sendRootsListChanged().catch(() => undefined);
    },
    close: async () => {
      client.onclose = () => undefined;
      await client.close().catch(() => undefined);
    },
  };
};

const lists: readonly ListName[] = ["tools", "resources", "prompts"];

const mostInstructions = 4000;

const logText = (data: unknown): string => {
  const text = typeof data === "string" ? data : (JSON.stringify(data) ?? "");
  return plain(text.slice(0, 2000), "line");
};

/** Answers are read by whoever asked: one odd piece must not cost the rest. */
const anything: StandardSchemaV1<unknown, unknown> = {
  "~standard": { version: 1, vendor: "parley", validate: (value) => ({ value }) },
};

/** The longest wait the client itself can count; ours is the clock of the world. */
const never = 2 ** 31 - 1;

const request = async <Result>(
  { signal, timeout, heard }: Pick<Asked, "signal" | "timeout"> & Partial<Pick<Listening, "heard">>,
  work: (given: RequestOptions) => Promise<Result>,
  { world, config }: ConnectionOptions,
  { lastWords }: Attempt,
): Promise<Result> => {
  try {
    return await within({ clock: world.clock, ms: timeout, signal }, (stop, touch) => {
      heard?.(touch);
      return work({ signal: stop, timeout: never });
    });
  } catch (error) {
    signal.throwIfAborted();
    throw explained(error, config.name, lastWords?.() ?? "");
  }
};
