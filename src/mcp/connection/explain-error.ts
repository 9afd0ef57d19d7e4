import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, UnauthorizedError } from "@modelcontextprotocol/client";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import { McpTimeoutError } from "./timeout.ts";
import { McpServerError } from "../server-error.ts";

/**
 * Converts any error into an `McpServerError` with a message for the user. `stderr` is the server's last output on
 * stderr.
 */
export const explainError = (error: unknown, server: string, stderr: string): McpServerError => {
  const said = sanitizeForTerminal(error instanceof Error ? error.message : String(error), "visible").slice(0, 2000);
  const stderrNote = stderr === "" ? "" : ` Last output on stderr: ${stderr.slice(-500)}`;
  const createError = (kind: McpServerError["kind"], message: string): McpServerError =>
    new McpServerError(kind, message, { cause: error });
  if (error instanceof McpServerError) return error;
  if (error instanceof ProtocolError)
    return createError("refused", `${server} answered with an error: ${said} (${error.code})`);
  if (isUnauthorized(error))
    return createError("sign-in", `${server} requires a sign-in. Run parley mcp login ${server}.`);
  if (error instanceof McpTimeoutError) return createError("timeout", `${server} did not answer: ${said}${stderrNote}`);
  if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed)
    return createError("gone", `${server} has exited.${stderrNote}`);
  if (error instanceof SdkHttpError)
    return createError("gone", `${server} answered with HTTP ${error.status ?? "?"}: ${said}`);
  return createError("gone", `${server} cannot be reached: ${said}${stderrNote}`);
};

const isUnauthorized = (error: unknown): boolean =>
  error instanceof UnauthorizedError || (error instanceof SdkHttpError && error.status === 401);
