import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import { MessageLog, type ReceivedMessage } from "./message-log.ts";

/** How the stand-in behaves. */
export type LockFileServerOptions = {
  readonly token?: string;
  /** Answers a tool; undefined leaves the call open. */
  readonly answer?: (tool: string, args: Readonly<Record<string, unknown>>) => readonly string[] | Error | undefined;
  /** Does not answer the handshake of MCP. */
  readonly isSilent?: boolean;
};

/** An editor that speaks Claude Code's protocol: a WebSocket server on this machine. */
export type LockFileServer = {
  readonly port: number;
  readonly token: string;
  readonly log: MessageLog;
  /** The headers of each connection that was tried. */
  readonly handshakes: readonly Readonly<Record<string, string | string[] | undefined>>[];
  readonly notify: (method: string, params: object) => void;
  /** Answers the open call of a tool. */
  readonly respond: (tool: string, texts: readonly string[]) => void;
  /** Sends bytes as they are. */
  readonly sendRaw: (text: string) => void;
  /** Ends all connections, as when the editor dies. */
  readonly drop: () => void;
  readonly close: () => Promise<void>;
};

/** Starts the stand-in. */
export const serveLockFile = async ({
  token = "0123456789abcdef0123456789abcdef",
  answer = () => [],
  isSilent = false,
}: LockFileServerOptions = {}): Promise<LockFileServer> => {
  const log = new MessageLog();
  const handshakes: Readonly<Record<string, string | string[] | undefined>>[] = [];
  const sockets = new Set<Socket>();
  const open = new Map<string, number>();
  const send = (message: object): void => {
    for (const socket of sockets) socket.write(encodeFrame(JSON.stringify({ jsonrpc: "2.0", ...message })));
  };
  const result = (texts: readonly string[]) => ({ content: texts.map((text) => ({ type: "text", text })) });
  const handle = (message: ReceivedMessage): void => {
    log.add("method" in message ? message : { method: "(answer)", params: message });
    const { id, method, params } = message;
    if (id === undefined || isSilent || !("method" in message)) return;
    if (method === "initialize")
      return send({
        id,
        result: {
          protocolVersion: params["protocolVersion"],
          capabilities: { tools: {} },
          serverInfo: { name: "Testpad", version: "1" },
        },
      });
    if (method === "tools/list") return send({ id, result: { tools: tools.map(declareTool) } });
    if (method !== "tools/call") return send({ id, error: { code: -32_601, message: "Method not found" } });
    const tool = String(params["name"]);
    const answered = answer(tool, params["arguments"] as Record<string, unknown>);
    if (answered instanceof Error) send({ id, error: { code: -32_000, message: answered.message } });
    else if (answered === undefined) open.set(tool, id);
    else send({ id, result: result(answered) });
  };
  const server = createServer();
  server.on("upgrade", (request, stream) => {
    const socket = stream as Socket;
    handshakes.push(request.headers);
    if (request.headers["x-claude-code-ide-authorization"] !== token) {
      socket.end("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n");
      return;
    }
    const key = createHash("sha1")
      .update(`${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest("base64");
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${key}\r\nSec-WebSocket-Protocol: mcp\r\n\r\n`,
    );
    sockets.add(socket);
    const decode = frameDecoder((text) => handle(JSON.parse(text) as ReceivedMessage));
    socket.on("data", decode).on("error", () => undefined);
    socket.on("end", () => socket.end());
    socket.on("close", () => {
      sockets.delete(socket);
      log.add({ method: "(closed)", params: {} });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const drop = (): void => sockets.forEach((socket) => socket.destroy());
  return {
    port: (server.address() as AddressInfo).port,
    token,
    log,
    handshakes,
    notify: (method, params) => send({ method, params }),
    respond: (tool, texts) => {
      const id = open.get(tool);
      open.delete(tool);
      send({ id, result: result(texts) });
    },
    sendRaw: (text) => sockets.forEach((socket) => socket.write(encodeFrame(text))),
    drop,
    close: () => {
      drop();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
};

/** The tools of this protocol that matter to a client. */
const tools = ["openDiff", "close_tab", "closeAllDiffTabs", "getDiagnostics", "getOpenEditors", "openFile"];

const declareTool = (name: string): object => ({ name, description: name, inputSchema: { type: "object" } });

/** Writes the lock file of an editor; `changes` replaces fields. */
export const writeLockFile = (
  home: string,
  { port, token }: Pick<LockFileServer, "port" | "token">,
  { mode = 0o600, ...changes }: Readonly<Record<string, unknown>> & { readonly mode?: number } = {},
): string => {
  const folder = join(home, ".claude", "ide");
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${port}.lock`);
  const content = { pid: process.pid, workspaceFolders: [], ideName: "Testpad", transport: "ws", authToken: token };
  writeFileSync(path, JSON.stringify({ ...content, ...changes }));
  chmodSync(path, mode);
  return path;
};

const encodeFrame = (text: string): Buffer => {
  const bytes = Buffer.from(text);
  const head =
    bytes.length < 126
      ? Buffer.from([0x81, bytes.length])
      : bytes.length < 65_536
        ? Buffer.from([0x81, 126, bytes.length >> 8, bytes.length & 255])
        : Buffer.concat([Buffer.from([0x81, 127]), bigEndian(bytes.length)]);
  return Buffer.concat([head, bytes]);
};

const bigEndian = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
};

/** Decodes masked text frames of a client, which do not come in fragments here. */
const frameDecoder = (onText: (text: string) => void): ((chunk: Buffer) => void) => {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      if (rest.length < 2) return;
      const short = (rest[1] ?? 0) & 127;
      const extra = short === 126 ? 2 : short === 127 ? 8 : 0;
      if (rest.length < 6 + extra) return;
      const length = extra === 0 ? short : extra === 2 ? rest.readUInt16BE(2) : Number(rest.readBigUInt64BE(2));
      const from = 6 + extra;
      if (rest.length < from + length) return;
      const mask = rest.subarray(2 + extra, from);
      const text = Buffer.from(rest.subarray(from, from + length)).map((byte, at) => byte ^ (mask[at % 4] ?? 0));
      if (((rest[0] ?? 0) & 15) === 1) onText(Buffer.from(text).toString("utf8"));
      rest = rest.subarray(from + length);
    }
  };
};
