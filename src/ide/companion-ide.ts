import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { isObject } from "../conversation/json.ts";
import { createGuardedFetch } from "../mcp/connection/http-guard.ts";
import { version } from "../world/version.ts";
import type { World } from "../world/world.ts";
import type { IdeOffer } from "./discover.ts";
import {
  maxDiffLength,
  maxSelectionLength,
  type DiffOutcome,
  type DiffProposal,
  type Ide,
  type IdeContext,
  type IdeDiff,
  type IdeListener,
} from "./ide.ts";
import { parseJson, readOpenFiles, readPath } from "./read-values.ts";
import { RpcClient, type MessageChannel } from "./rpc.ts";

/** Milliseconds for the handshake and for a tool. */
const requestTimeout = 5000;

/** Connects to the companion extension of Gemini CLI or Qwen Code: MCP over HTTP on this machine. */
export const connectCompanionIde = async (
  { name, port, token }: IdeOffer,
  world: Pick<World, "clock" | "net" | "env">,
  listener: IdeListener,
): Promise<Ide> => {
  let context: IdeContext = { openFiles: [] };
  const diffs = new Map<string, (outcome: DiffOutcome) => void>();
  const rpc = new RpcClient({
    clock: world.clock,
    onClose: () => {
      for (const settle of diffs.values()) settle({ type: "closed" });
      listener.onClose();
    },
    onNotification: (method, params) => {
      if (method === "ide/contextUpdate") {
        context = readContext(params);
        listener.onChange();
        return;
      }
      const outcome = readOutcome(method, params);
      if (outcome !== undefined) diffs.get(readPath(params["filePath"]) ?? "")?.(outcome);
    },
  });
  try {
    await rpc.start(openChannel(port, token, world, rpc), { version, timeout: requestTimeout });
  } catch (error) {
    rpc.close();
    throw error;
  }
  return {
    name,
    context: () => context,
    takeMentions: () => [],
    openDiff: (proposal) => openDiff(rpc, diffs, proposal),
    diagnostics: async () => undefined,
    close: () => rpc.close(),
  };
};

/** Sends messages by HTTP. The server sends its own in the stream of a GET request. */
const openChannel = (
  port: number,
  token: string,
  world: Pick<World, "clock" | "net" | "env">,
  rpc: RpcClient,
): MessageChannel => {
  const url = `http://127.0.0.1:${port}/mcp`;
  const guarded = createGuardedFetch({
    world,
    server: url,
    headers: { authorization: `Bearer ${token}` },
    maxPause: requestTimeout,
  });
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    // On this machine, a connection that cannot be made means that the editor is gone.
    fetch: async (address, init) =>
      guarded(address, init).catch((error: unknown) => {
        rpc.onClose();
        throw error;
      }),
    reconnectionOptions: {
      initialReconnectionDelay: 500,
      maxReconnectionDelay: 2000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: 2,
    },
  });
  transport.onmessage = rpc.onMessage;
  transport.onclose = rpc.onClose;
  const started = transport.start();
  return {
    send: async (message) => {
      await started;
      await transport.send(message as never);
    },
    close: () => void transport.close().catch(() => undefined),
  };
};

/** Parses `ide/contextUpdate`. Only the active file has a selection, of which the cursor's line is known. */
const readContext = ({ workspaceState }: Readonly<Record<string, unknown>>): IdeContext => {
  const given = isObject(workspaceState) ? workspaceState["openFiles"] : undefined;
  const files = (Array.isArray(given) ? given : []).filter(isObject);
  const newest = files.toSorted((a, b) => Number(b["timestamp"]) - Number(a["timestamp"]));
  const active = newest.find((file) => file["isActive"] === true);
  const openFiles = readOpenFiles(newest.map((file) => ({ path: file["path"], isActive: file === active })));
  const path = readPath(active?.["path"]);
  const text = active?.["selectedText"];
  const cursor = active?.["cursor"];
  const last = isObject(cursor) ? cursor["line"] : undefined;
  if (path === undefined || typeof text !== "string" || text === "" || typeof last !== "number") return { openFiles };
  const lines = text.split("\n").length - 1;
  return {
    openFiles,
    selection: {
      path,
      text: text.slice(0, maxSelectionLength),
      firstLine: Math.max(1, Math.trunc(last) - lines),
      lastLine: Math.max(1, Math.trunc(last)),
    },
  };
};

const readOutcome = (method: string, { content }: Readonly<Record<string, unknown>>): DiffOutcome | undefined => {
  switch (method) {
    case "ide/diffAccepted":
      return typeof content === "string" && content.length <= maxDiffLength
        ? { type: "accepted", text: content }
        : { type: "closed" };
    case "ide/diffRejected":
      return { type: "refused" };
    case "ide/diffClosed":
      return { type: "closed" };
    default:
      return undefined;
  }
};

/** Opens a diff. The call returns at once; the answer is a notification that names the file. */
const openDiff = (
  rpc: RpcClient,
  diffs: Map<string, (outcome: DiffOutcome) => void>,
  { path, after }: DiffProposal,
): IdeDiff => {
  const outcome = new Promise<DiffOutcome>((resolve) => {
    const settle = (result: DiffOutcome): void => {
      if (diffs.get(path) === settle) diffs.delete(path);
      resolve(result);
    };
    diffs.get(path)?.({ type: "closed" });
    diffs.set(path, settle);
    rpc
      .callTool("openDiff", { filePath: path, newContent: after }, requestTimeout)
      .catch(() => settle({ type: "closed" }));
  });
  const closeAccepted = async (): Promise<string | undefined> => {
    diffs.get(path)?.({ type: "closed" });
    const texts = await rpc.callTool("closeDiff", { filePath: path }, requestTimeout).catch(() => []);
    return readFinalText(texts[0]);
  };
  return { outcome, close: () => void closeAccepted(), closeAccepted };
};

/** The extension answers with JSON that holds the text; the published description says the text itself. */
const readFinalText = (answer: string | undefined): string | undefined => {
  if (answer === undefined || answer.length > 2 * maxDiffLength) return undefined;
  const parsed = parseJson(answer);
  const isWrapped = isObject(parsed) && Object.keys(parsed).every((key) => key === "content");
  if (!isWrapped) return answer === "" ? undefined : answer;
  return typeof parsed["content"] === "string" ? parsed["content"] : undefined;
};
