import { isObject, toPlainJson, type JsonObject } from "../../conversation/json.ts";
import type { ContentEvent } from "../../transport/events.ts";
import { GatewayError } from "../exchange.ts";
import { json, type AdmittedRequest, type GatewayState } from "../gateway.ts";
import type { GatewayResponse } from "../http-types.ts";
import { askForSummary, summaryMessage } from "../inbound/compaction.ts";
import { openExchange } from "./open-exchange.ts";

/**
 * Compacts the input of a Responses client: the user's own messages stay, everything else becomes a summary written by
 * the target.
 */
export const compact = async (state: GatewayState, admitted: AdmittedRequest): Promise<GatewayResponse> => {
  const { body, id } = admitted;
  const input: readonly unknown[] = Array.isArray(body["input"]) ? body["input"] : [body["input"]];
  const opened = await openExchange(state, { ...admitted, body: askForSummary(body) });
  if ("response" in opened) return opened.response;
  const { exchange } = opened;
  let summary = "";
  for await (const events of summaryEvents(exchange.events()))
    for (const event of events) if (event.type === "part-end" && event.part.type === "text") summary = event.part.text;
  admitted.finish({ status: 200, notes: exchange.notes });
  const kept = input.filter(isUserMessage).map((item) => toPlainJson(item).value as JsonObject);
  const { usage } = exchange;
  return json(200, {
    id: `resp_${id}`,
    object: "response.compaction",
    created_at: Math.floor(state.options.world.clock.now() / 1000),
    output: [...kept, summaryMessage(summary)],
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

/** Reduces the events of a response to a summary: one text, without thinking and calls. Throws a `GatewayError` if there is none. */
export const summaryEvents = async function* (
  batches: AsyncIterable<readonly ContentEvent[]>,
): AsyncGenerator<readonly ContentEvent[], void> {
  let text = "";
  for await (const events of batches)
    for (const event of events) {
      if (event.type === "part-end" && event.part.type === "text") text += event.part.text;
      else if (event.type === "usage") yield [event];
      else if (event.type === "finish") {
        if (text.trim() === "") throw new GatewayError({ kind: "no-summary" });
        yield [
          { type: "part-end", index: 0, part: { type: "text", text } },
          { type: "finish", reason: "stop" },
        ];
      }
    }
};
