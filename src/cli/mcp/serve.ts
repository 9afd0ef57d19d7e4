import type { Readable, Writable } from "node:stream";
import { createInterface } from "node:readline";
import { isObject } from "../../conversation/json.ts";
import { version } from "../../world/version.ts";
import { servedTools } from "./serve-tools.ts";

type JsonRpcObject = Readonly<Record<string, unknown>>;

/** Supported protocol versions; a client that requests another is offered the newest. */
const protocolVersions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/** Serves MCP over the streams until the input ends. */
export const serveTools = async (input: Readable, output: Writable): Promise<number> => {
  const send = (message: object): void => void output.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  for await (const line of createInterface({ input })) {
    if (line.trim() === "") continue;
    const message = parseMessage(line);
    if (message === undefined) send({ id: null, error: { code: -32700, message: "Parse error: not a JSON object." } });
    else if (message["id"] !== undefined && typeof message["method"] === "string")
      send({
        id: message["id"],
        ...(await handleRequest(message["method"], isObject(message["params"]) ? message["params"] : {})),
      });
  }
  return 0;
};

const parseMessage = (line: string): JsonRpcObject | undefined => {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

const handleRequest = async (method: string, params: JsonRpcObject): Promise<object> => {
  switch (method) {
    case "initialize": {
      const requested = params["protocolVersion"];
      return {
        result: {
          protocolVersion:
            typeof requested === "string" && protocolVersions.includes(requested) ? requested : protocolVersions[0],
          capabilities: { tools: {} },
          serverInfo: { name: "parley", title: "Parley", version },
          instructions:
            "Renders, converts and checks requests to LLM APIs, however broken the conversation in them is.",
        },
      };
    }
    case "ping":
      return { result: {} };
    case "tools/list":
      return { result: { tools: servedTools.map((tool) => ({ ...tool, run: undefined })) } };
    case "tools/call":
      return callTool(params);
    default:
      return { error: { code: -32601, message: `Unknown method ${JSON.stringify(method.slice(0, 60))}.` } };
  }
};

const callTool = async ({ name, arguments: args }: JsonRpcObject): Promise<object> => {
  const tool = servedTools.find((candidate) => candidate.name === name);
  if (tool === undefined) return { error: { code: -32602, message: `Unknown tool ${JSON.stringify(name)}.` } };
  try {
    const value = await tool.run(isObject(args) ? args : {});
    return { result: { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value } };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return { result: { content: [{ type: "text", text }], isError: true } };
  }
};
