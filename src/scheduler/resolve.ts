import type { ResolvedTouches } from "../policy/gate-request.ts";
import type { Files, Place } from "../tools/capabilities.ts";
import type { ValidCall } from "./validate.ts";

/** What a call touches, where that really is, and what stood there when it was looked at. */
export type Resolved = Omit<ResolvedTouches, "writes"> & {
  readonly writes: readonly Written[];
  /** Set where a tool writes without saying where: its calls follow each other. */
  readonly unnamed?: string | undefined;
};

/** A path to be written. `asked` is what the model wrote; `was` is what must still be there. */
type Written = {
  readonly path: string;
  readonly shown: string;
  readonly asked: string;
  readonly was: string;
  readonly fault: string | undefined;
};

/** Follows every path of a call to its place. Throws where one leads out of the workspace. */
export const resolveTouches = async ({ tool, input }: ValidCall, files: Files): Promise<Resolved> => {
  const { reads = [], writes = [], command, urls = [] } = tool.touches(input);
  const folder = command && (await files.resolve(command.folder === "" ? "." : command.folder));
  return {
    reads: await Promise.all(reads.map((path) => files.resolve(path))),
    writes: await Promise.all(writes.map(async (asked) => written(asked, await files.resolve(asked)))),
    command: command && folder && { text: command.text, folder: folder.path },
    urls,
    unnamed: tool.access === "write" && writes.length === 0 ? tool.name : undefined,
  };
};

const written = (asked: string, place: Place): Written => ({
  path: place.path,
  shown: place.shown,
  asked,
  was: place.kind === "absent" ? "absent" : place.identity,
  fault: place.fault,
});
