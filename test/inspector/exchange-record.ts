import { convertRequest } from "../../src/providers/request.ts";
import type { ExchangeRecord } from "../../src/wire/exchange.ts";

/** A request of an editor, in OpenAI's form. */
export const chatBody = {
  model: "gpt-audio",
  messages: [
    { role: "system", content: "Answer briefly." },
    {
      role: "user",
      content: [
        { type: "text", text: "Which tests are slow?" },
        { type: "input_audio", input_audio: { data: "UklGRgAAAABXQVZF", format: "wav" } },
      ],
    },
    {
      role: "assistant",
      content: null,
      tool_calls: [
        { id: "call:1", type: "function", function: { name: "run", arguments: '{"command":"npm test"}' } },
        { id: "call:2", type: "function", function: { name: "run", arguments: '{"command":"ls test"}' } },
      ],
    },
    { role: "tool", tool_call_id: "call:1", content: "queue.test.ts 12.4 s" },
    { role: "tool", tool_call_id: "call:2", content: "queue.test.ts store.test.ts" },
  ],
  tools: [
    {
      type: "function",
      function: { name: "run", parameters: { type: "object", properties: { command: { type: "string" } } } },
    },
  ],
} as const;

/** An exchange as a gateway records it: asked in OpenAI's form, answered by a model of Anthropic. */
export const exchangeRecord = (): ExchangeRecord => {
  const { body, report } = convertRequest(chatBody, "openai-chat", "anthropic/claude-sonnet-5", {
    policy: { unsupportedMedia: "stub" },
  });
  return {
    at: "2026-03-04T05:06:07.000Z",
    client: "editor",
    model: "gpt-audio",
    in: { api: "openai-chat", body: chatBody },
    out: { provider: "anthropic", model: "claude-sonnet-5", body },
    notes: report.notes,
    usage: { input: 1200, cachedRead: 1000, cachedWrite: 0, output: 90, reasoning: 0 },
    cost: 0.0042,
    status: 200,
    took: 2100,
  };
};
