import { isObject } from "../../conversation/json.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import type { McpRequestOptions } from "./connect.ts";

type MessageParams = Readonly<Record<string, unknown>>;

/** A request that hears of its own progress. `heard` is given what to do with every word of it. */
export type ProgressOptions = Pick<McpRequestOptions, "signal" | "timeout"> & {
  readonly onActivity: (touch: () => void) => void;
};

/**
 * Brings what servers say of their progress to those who asked. The client package would lose the last words before an
 * answer, since it hears of the answer first.
 */
export class ProgressRouter {
  readonly #hearing = new Map<unknown, (params: MessageParams) => void>();
  #last = 0;

  /** Any message of the server, before anybody else hears it. */
  handleMessage(message: object): void {
    const { method, params } = message as { readonly method?: unknown; readonly params?: unknown };
    if (method === "notifications/progress" && isObject(params)) this.#hearing.get(params["progressToken"])?.(params);
  }

  /** Makes a request whose progress is told for as long as it lasts. */
  async track<Result>(
    { signal, timeout, onProgress: progress }: McpRequestOptions,
    params: MessageParams,
    work: (params: MessageParams, listening: ProgressOptions) => Promise<Result>,
  ): Promise<Result> {
    if (progress === undefined) return work(params, { signal, timeout, onActivity: () => undefined });
    const progressToken = `parley-${(this.#last += 1)}`;
    const heard = (touch: () => void): void =>
      void this.#hearing.set(progressToken, (told) => {
        touch();
        progress(formatProgress(told));
      });
    try {
      return await work({ ...params, _meta: { progressToken } }, { signal, timeout, onActivity: heard });
    } finally {
      this.#hearing.delete(progressToken);
    }
  }
}

const formatProgress = ({ progress, total, message }: MessageParams): string => {
  const share = typeof total === "number" ? `${Number(progress)} of ${total}` : `${Number(progress)}`;
  return `${share}${typeof message === "string" ? ` ${sanitizeForTerminal(message, "line").slice(0, 300)}` : ""}\n`;
};
