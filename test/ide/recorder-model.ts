import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A reply: a text, or a call of a tool. */
export type RecorderReply = string | { readonly tool: string; readonly input: object };

/** A model behind a local server that records requests and gives its replies in order. */
export type RecorderModel = {
  readonly env: Readonly<Record<string, string>>;
  readonly args: readonly string[];
  /** The messages of each request. */
  readonly requests: readonly (readonly { readonly role: string; readonly content: unknown }[])[];
  /** The texts of the last message of a request, without the context that opens a session. */
  readonly lastTexts: (request: number) => readonly string[];
  readonly close: () => void;
};

/** Starts the model. */
export const serveRecorder = async (replies: readonly RecorderReply[]): Promise<RecorderModel> => {
  const requests: (readonly { readonly role: string; readonly content: unknown }[])[] = [];
  const server = createServer((request, response) => {
    if (request.method !== "POST") return void response.writeHead(404).end();
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const reply = replies[requests.length] ?? "Nothing left to say.";
      requests.push((JSON.parse(body) as { messages: (typeof requests)[number] }).messages);
      response.writeHead(200, { "content-type": "text/event-stream" });
      const [delta, finish] =
        typeof reply === "string"
          ? [{ content: reply }, "stop"]
          : [
              { tool_calls: [{ index: 0, id: `c${requests.length}`, type: "function", function: call(reply) }] },
              "tool_calls",
            ];
      for (const choice of [
        { index: 0, delta, finish_reason: null },
        { index: 0, delta: {}, finish_reason: finish },
      ])
        response.write(`data: ${JSON.stringify({ choices: [choice] })}\n\n`);
      response.end("data: [DONE]\n\n");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    env: { PARLEY_LOCAL_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` },
    args: ["-m", "local/recorder"],
    requests,
    lastTexts: (request) => {
      const content = requests[request]?.at(-1)?.content;
      const texts = Array.isArray(content)
        ? content.map((part: { readonly text?: string }) => part.text ?? "")
        : [content];
      return texts.filter((text): text is string => typeof text === "string" && !text.includes("Platform: "));
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

const call = ({ tool, input }: Exclude<RecorderReply, string>): object => ({
  name: tool,
  arguments: JSON.stringify(input),
});
