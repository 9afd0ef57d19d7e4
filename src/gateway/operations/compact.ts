import { isObject, toPlainJson, type JsonObject } from "../../conversation/json.ts";
import { GatewayError } from "../exchange.ts";
import { json, type AdmittedRequest, type GatewayState } from "../gateway.ts";
import type { GatewayResponse } from "../http-types.ts";
import { openExchange } from "./open-exchange.ts";

/**
 * Compacts the input of a Responses client: the user's own messages stay, everything else becomes a summary written by
 * the target.
 */
export const compact = async (state: GatewayState, admitted: AdmittedRequest): Promise<GatewayResponse> => {
  const { body, id } = admitted;
  const input: readonly unknown[] = Array.isArray(body["input"]) ? body["input"] : [body["input"]];
  const { tools: _tools, tool_choice: _choice, text: _text, ...rest } = body;
  const asked = { ...rest, input: [...input, { type: "message", role: "user", content: compactionPrompt }] };
  const opened = await openExchange(state, { ...admitted, body: asked });
  if ("response" in opened) return opened.response;
  const { exchange } = opened;
  let summary = "";
  for await (const event of exchange.events())
    if (event.type === "part-end" && event.part.type === "text") summary += event.part.text;
  if (summary.trim() === "") throw new GatewayError({ kind: "no-summary" });
  admitted.finish({ status: 200, notes: exchange.notes });
  const kept = input.filter(isUserMessage).map((item) => toPlainJson(item).value as JsonObject);
  const { usage } = exchange;
  return json(200, {
    id: `resp_${id}`,
    object: "response.compaction",
    created_at: Math.floor(state.options.world.clock.now() / 1000),
    output: [
      ...kept,
      { type: "message", role: "user", content: [{ type: "input_text", text: `${summaryHeading}\n\n${summary}` }] },
    ],
    usage: {
      input_tokens: usage?.input ?? 0,
      input_tokens_details: { cached_tokens: usage?.cachedRead ?? 0 },
      output_tokens: usage?.output ?? 0,
      output_tokens_details: { reasoning_tokens: usage?.reasoning ?? 0 },
      total_tokens: (usage?.input ?? 0) + (usage?.output ?? 0),
    },
  });
};

const isUserMessage = (item: unknown): boolean => isObject(item) && item["role"] === "user";

const compactionPrompt =
  "Summarize this conversation so that you can continue the work from the summary alone. State the goal, the decisions and their reasons, every file that was read or changed with what matters in it, the exact names, commands and errors that are still needed, what is done, and what comes next. Write only the summary.";

const summaryHeading = "Summary of the conversation before this point:";
