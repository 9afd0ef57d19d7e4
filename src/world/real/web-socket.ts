import type { Socket } from "node:net";

/** Where to connect, and the limits of the connection. */
export type WebSocketRequest = {
  readonly url: string;
  readonly protocol: string;
  readonly headers: { readonly [name: string]: string };
  /** The longest message, in bytes. A longer one ends the connection. */
  readonly maxMessageBytes: number;
};

/** Receives text messages and the end of the connection, which comes once. */
export type WebSocketListener = { readonly onText: (text: string) => void; readonly onClose: () => void };

/** An open WebSocket. Sending to a closed one does nothing. */
export type OpenWebSocket = { readonly send: (text: string) => void; readonly close: () => void };

/** Opens a WebSocket, without a proxy. Rejects if it cannot be opened, or when the signal is aborted before. */
export const openWebSocket = async (
  { url, protocol, headers, maxMessageBytes }: WebSocketRequest,
  { onText, onClose }: WebSocketListener,
  signal: AbortSignal,
): Promise<OpenWebSocket> => {
  const { Agent, WebSocket, buildConnector } = await import("undici");
  signal.throwIfAborted();
  // The connection itself: a server that never answers the close frame must not keep it open.
  let connection: Socket | undefined;
  const connector = buildConnector({});
  const dispatcher = new Agent({
    webSocket: { maxPayloadSize: maxMessageBytes },
    connect: (options, done) =>
      connector(options, (...result) => {
        connection = result[1] ?? undefined;
        done(...result);
      }),
  });
  const socket = new WebSocket(url, { protocols: [protocol], headers: { ...headers }, dispatcher });
  return new Promise((resolve, reject) => {
    let isOpen = false;
    const end = (): void => {
      signal.removeEventListener("abort", end);
      connection?.destroy();
      void dispatcher.destroy().catch(() => undefined);
      if (isOpen) onClose();
      else reject(new Error(`No WebSocket connection to ${new URL(url).host}.`));
      isOpen = false;
    };
    signal.addEventListener("abort", end, { once: true });
    socket.addEventListener("open", () => {
      signal.removeEventListener("abort", end);
      isOpen = true;
      resolve({
        send: (text) => {
          if (socket.readyState === WebSocket.OPEN) socket.send(text);
        },
        close: () => {
          isOpen = false;
          socket.close();
          connection?.destroySoon();
        },
      });
    });
    socket.addEventListener("message", ({ data }) => {
      if (isOpen && typeof data === "string") onText(data);
    });
    socket.addEventListener("error", () => undefined);
    socket.addEventListener("close", end);
  });
};
