import { isObject } from "../../conversation/json.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import type { McpRequestOptions } from "./connect.ts";

type MessageParams = Readonly<Record<string, unknown>>;

/** Options of a request with progress. `onActivity` is given a callback for every progress notification. */
export type ProgressOptions = Pick<McpRequestOptions, "signal" | "timeout"> & {
  readonly onActivity: (touch: () => void) => void;
};

/**
 * Routes progress notifications to requests. The client package would lose those just before a response, since it
 * handles the response first.
 */
export class ProgressRouter {
  readonly #hearing = new Map<unknown, (params: MessageParams) => void>();
  #last = 0;

  /** Handles any message of the server, before the client does. */
  handleMessage(message: object): void {
    const { method, params } = message as { readonly method?: unknown; readonly params?: unknown };
    if (method === "notifications/progress" && isObject(params)) this.#hearing.get(params["progressToken"])?.(params);
  }

  /** Makes a request whose progress is reported as long as it runs. */
  async track<Result>(
    { signal, timeout, onProgress }: McpRequestOptions,
    params: MessageParams,
    work: (params: MessageParams, listening: ProgressOptions) => Promise<Result>,
  ): Promise<Result> {
    if (onProgress === undefined) return work(params, { signal, timeout, onActivity: () => undefined });
    const progressToken = `parley-${(this.#last += 1)}`;
    const onActivity = (touch: () => void): void =>
      void this.#hearing.set(progressToken, (params) => {
        touch();
        onProgress(formatProgress(params));
      });
    try {
      return await work({ ...params, _meta: { progressToken } }, { signal, timeout, onActivity });
    } finally {
      this.#hearing.delete(progressToken);
    }
  }
}

const formatProgress = ({ progress, total, message }: MessageParams): string => {
  const share = typeof total === "number" ? `${Number(progress)} of ${total}` : `${Number(progress)}`;
  return `${share}${typeof message === "string" ? ` ${sanitizeForTerminal(message, "line").slice(0, 300)}` : ""}\n`;
};
