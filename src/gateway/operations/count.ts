import { countTokens } from "../../transport/queries/count-tokens.ts";
import { ProviderError } from "../../transport/failure.ts";
import type { AnswerEncoder } from "../answers/answer.ts";
import { estimateConversation } from "../estimate.ts";
import { json, type AdmittedRequest, type GatewayState } from "../gateway.ts";
import type { GatewayResponse } from "../http-types.ts";
import { openExchange } from "./open-exchange.ts";

/** Counts the input tokens of a request: the target counts where it can, otherwise an estimate is returned. */
export const count = async (
  state: GatewayState,
  admitted: AdmittedRequest,
  encoder: AnswerEncoder,
): Promise<GatewayResponse> => {
  const opened = await openExchange(state, admitted);
  if ("response" in opened) return opened.response;
  const { address, inbound, body } = await opened.exchange.compose();
  const counted = await countTokens(
    address.provider,
    address.model,
    body,
    state.options.world,
    admitted.request.signal,
  ).catch((error: unknown) => {
    // A counter that fails is no reason to fail: the estimate is good enough to decide about compaction.
    if (error instanceof ProviderError) return undefined;
    throw error;
  });
  const tokens = counted ?? estimateConversation(inbound.conversation);
  admitted.finish({ status: 200 });
  return json(200, encoder.encodeTokenCount(tokens), {
    "x-parley-count": counted === undefined ? "estimate" : "exact",
  });
};
