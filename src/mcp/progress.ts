import { isObject } from "../conversation/json.ts";
import { plain } from "../policy/plain.ts";
import type { Asked } from "./connection.ts";

type Params = Readonly<Record<string, unknown>>;

/** A request that hears of its own progress. `heard` is given what to do with every word of it. */
export type Listening = Pick<Asked, "signal" | "timeout"> & { readonly heard: (touch: () => void) => void };

/**
 * Brings what servers say of their progress to those who asked. The client package would lose the last words before an
 * answer, since it hears of the answer first.
 */
export class ProgressDesk {
  readonly #hearing = new Map<unknown, (params: Params) => void>();
  #last = 0;

  /** Any message of the server, before anybody else hears it. */
  hear(message: object): void {
    const { method, params } = message as { readonly method?: unknown; readonly params?: unknown };
    if (method === "notifications/progress" && isObject(params)) this.#hearing.get(params["progressToken"])?.(params);
  }

  /** Makes a request whose progress is told for as long as it lasts. */
  async during<Result>(
    { signal, timeout, progress }: Asked,
    params: Params,
    work: (params: Params, listening: Listening) => Promise<Result>,
  ): Promise<Result> {
    if (progress === undefined) return work(params, { signal, timeout, heard: () => undefined });
    const progressToken = `parley-${(this.#last += 1)}`;
    const heard = (touch: () => void): void =>
      void this.#hearing.set(progressToken, (told) => {
        touch();
        progress(progressText(told));
      });
    try {
      return await work({ ...params, _meta: { progressToken } }, { signal, timeout, heard });
    } finally {
      this.#hearing.delete(progressToken);
    }
  }
}

const progressText = ({ progress, total, message }: Params): string => {
  const share = typeof total === "number" ? `${Number(progress)} of ${total}` : `${Number(progress)}`;
  return `${share}${typeof message === "string" ? ` ${plain(message, "line").slice(0, 300)}` : ""}\n`;
};
