import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A loopback model that answers every request with short pieces of text, as OpenAI's Chat Completions and as Gemini. */
export type PieceServer = {
  readonly url: string;
  /** Sets how many pieces the next answers have. */
  readonly setPieces: (count: number) => void;
  readonly close: () => void;
};

/** Opens the server on a free port. */
export const openPieceServer = async (): Promise<PieceServer> => {
  let pieces = 1;
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => answer(request, response, pieces));
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setPieces: (count) => void (pieces = count),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

const answer = ({ url = "" }: IncomingMessage, response: ServerResponse, pieces: number): void => {
  if (url.includes("/chat/completions")) return stream(response, pieces, chatChunks);
  if (url.includes(":streamGenerateContent")) return stream(response, pieces, geminiChunks);
  // Side requests, e.g. to count tokens.
  const body = url.includes(":generateContent") ? geminiChunks.last : { totalTokens: 1000 };
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
};

type ChunkForm = { readonly piece: (text: string) => object; readonly last: object; readonly end: string };

const stream = (response: ServerResponse, pieces: number, { piece, last, end }: ChunkForm): void => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (let at = 0; at < pieces; at += 1) response.write(`data: ${JSON.stringify(piece(`word ${at} `))}\n\n`);
  response.end(`data: ${JSON.stringify(last)}\n\n${end}`);
};

const chatChunk = (delta: object, finish_reason: string | null, more: object = {}): object => ({
  id: "c",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices: [{ index: 0, delta, finish_reason }],
  ...more,
});

const chatChunks: ChunkForm = {
  piece: (content) => chatChunk({ role: "assistant", content }, null),
  last: chatChunk({}, "stop", { usage: { prompt_tokens: 1000, completion_tokens: 20, total_tokens: 1020 } }),
  end: "data: [DONE]\n\n",
};

const geminiChunks: ChunkForm = {
  piece: (text) => ({ candidates: [{ index: 0, content: { role: "model", parts: [{ text }] } }] }),
  last: {
    candidates: [{ index: 0, content: { role: "model", parts: [{ text: "." }] }, finishReason: "STOP" }],
    usageMetadata: { promptTokenCount: 1000, candidatesTokenCount: 20, totalTokenCount: 1020 },
  },
  end: "",
};
