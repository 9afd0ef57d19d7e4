import { isObject } from "../conversation/json.ts";
import type { EditorBuffers } from "../policy/workspace/editor-buffers.ts";
import type { Clock } from "../world/world.ts";
import type { SessionClient } from "./client.ts";

/** How long the client may take for a file, in milliseconds. */
const timeLimit = 3000;

/**
 * The client's files, as far as it offers them. On any error, and if it does not answer in time, the file on disk is
 * used. A client that did not answer is not asked again.
 */
export const createBuffers = (
  { capabilities, request }: SessionClient,
  clock: Pick<Clock, "after">,
): EditorBuffers | undefined => {
  const { readFiles, writeFiles } = capabilities;
  if (!readFiles && !writeFiles) return undefined;
  let isSilent = false;
  const ask = async (method: string, params: object): Promise<{ readonly result: unknown } | undefined> => {
    if (isSilent) return undefined;
    const limit = new AbortController();
    const stop = clock.after(timeLimit, () => {
      isSilent = true;
      limit.abort();
    });
    return request(method, params, limit.signal)
      .then((result) => ({ result }))
      .catch(() => undefined)
      .finally(stop);
  };
  return {
    ...(readFiles
      ? {
          read: async (path) => {
            const result = (await ask("fs/read_text_file", { path }))?.result;
            const content = isObject(result) ? result["content"] : undefined;
            // Some clients answer with nothing for a file they do not know.
            return typeof content === "string" && content !== "" ? content : undefined;
          },
        }
      : {}),
    ...(writeFiles
      ? { write: async (path, content) => (await ask("fs/write_text_file", { path, content })) !== undefined }
      : {}),
  };
};
