import type { ResolvedTouches } from "../../policy/gate/request.ts";
import type { WorkspaceFiles, ResolvedPath } from "../../tools/capabilities.ts";
import type { ValidCall } from "./validate.ts";

/** What a call touches, where that really is, and what stood there when it was looked at. */
export type ResolvedResources = Omit<ResolvedTouches, "writes"> & {
  readonly writes: readonly WriteTarget[];
  /** Set where a tool writes without saying where: its calls follow each other. */
  readonly unnamed?: string | undefined;
};

/** A path to be written. `asked` is what the model wrote; `was` is what must still be there. */
type WriteTarget = {
  readonly path: string;
  readonly shown: string;
  readonly requestedPath: string;
  readonly expectedIdentity: string;
  readonly invalidReason: string | undefined;
};

/** Follows every path of a call to its place. Throws where one leads out of the workspace. */
export const resolveResources = async (
  { tool, input }: ValidCall,
  files: WorkspaceFiles,
): Promise<ResolvedResources> => {
  const { reads = [], writes = [], command, urls = [] } = tool.touches(input);
  const folder = command && (await files.resolve(command.folder === "" ? "." : command.folder));
  return {
    reads: await Promise.all(reads.map((path) => files.resolve(path))),
    writes: await Promise.all(writes.map(async (asked) => toWriteTarget(asked, await files.resolve(asked)))),
    command: command && folder && { text: command.text, folder: folder.path },
    urls,
    unnamed: tool.access === "write" && writes.length === 0 ? tool.name : undefined,
  };
};

const toWriteTarget = (asked: string, place: ResolvedPath): WriteTarget => ({
  path: place.path,
  shown: place.shown,
  requestedPath: asked,
  expectedIdentity: place.kind === "absent" ? "absent" : place.identity,
  invalidReason: place.fault,
});
