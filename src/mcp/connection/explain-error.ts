import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, UnauthorizedError } from "@modelcontextprotocol/client";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import { McpTimeoutError } from "./timeout.ts";
import { McpServerError } from "../server-error.ts";

/** What went wrong with a server, in words. `words` is what it last wrote to its error output. */
export const explainError = (error: unknown, server: string, words: string): McpServerError => {
  const said = sanitizeForTerminal(error instanceof Error ? error.message : String(error), "visible").slice(0, 2000);
  const heard = words === "" ? "" : ` It last wrote: ${words.slice(-500)}`;
  const failed = (kind: McpServerError["kind"], message: string): McpServerError =>
    new McpServerError(kind, message, { cause: error });
  if (error instanceof McpServerError) return error;
  if (error instanceof ProtocolError)
    return failed("refused", `${server} answered with an error: ${said} (${error.code})`);
  if (isUnauthorized(error)) return failed("sign-in", `${server} wants a sign-in. Run parley mcp login ${server}.`);
  if (error instanceof McpTimeoutError) return failed("timeout", `${server} did not answer: ${said}${heard}`);
  if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed)
    return failed("gone", `${server} has ended.${heard}`);
  if (error instanceof SdkHttpError)
    return failed("gone", `${server} answered with HTTP ${error.status ?? "?"}: ${said}`);
  return failed("gone", `${server} cannot be reached: ${said}${heard}`);
};

const isUnauthorized = (error: unknown): boolean =>
  error instanceof UnauthorizedError || (error instanceof SdkHttpError && error.status === 401);
