import type { ToolExchange } from "../api/parsed-request.ts";

/** How a tool call ended, as far as its result shows. */
export type ExchangeOutcome =
  | { readonly status: "done"; readonly text: string }
  | { readonly status: "failed" | "refused" | "cancelled" | "interrupted"; readonly text: string };

/** Parses a result. Chat Completions has no failure flag: failures start with "Error" and have no trailing newline. */
export const parseOutcome = ({ result }: ToolExchange): ExchangeOutcome => {
  if (result === undefined) return { status: "interrupted", text: "No result was recorded." };
  const { text } = result;
  if (!/^\s*error\b/i.test(text) || text.endsWith("\n")) return { status: "done", text };
  const message = text.replace(/^\s*error:?\s*/i, "");
  const [, status] = statusPatterns.find(([pattern]) => pattern.test(message)) ?? [];
  return { status: status ?? "failed", text: message };
};

/** Whether a call was cancelled or interrupted. */
export const isStopped = (exchange: ToolExchange): boolean =>
  /^(?:cancelled|interrupted)$/.test(parseOutcome(exchange).status);

const statusPatterns = [
  [/^The user refused this call/, "refused"],
  [
    /^(?:The user cancelled this call|This call was cancelled|The call was cancelled|The command was cancelled)/,
    "cancelled",
  ],
  [/^No result was recorded/, "interrupted"],
] as const;
