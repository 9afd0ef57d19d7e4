import type { ResolvedTouches } from "../../policy/gate/request.ts";
import type { WorkspaceFiles, ResolvedPath } from "../../tools/capabilities.ts";
import type { ValidCall } from "./validate.ts";

/** The resources a call touches, with links resolved and the version of each file at that time. */
export type ResolvedResources = Omit<ResolvedTouches, "writes"> & {
  readonly writes: readonly WriteTarget[];
  /** Set for a tool that writes without naming a path: its calls run one after the other. */
  readonly unnamed?: string | undefined;
};

/** A path to write. `requestedPath` is the model's; `expectedIdentity` is the version that must still be there. */
type WriteTarget = {
  readonly path: string;
  readonly shown: string;
  readonly requestedPath: string;
  readonly expectedIdentity: string;
  readonly invalidReason: string | undefined;
};

/** Resolves every path of a call. Throws where one leads out of the workspace. */
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

const toWriteTarget = (requestedPath: string, place: ResolvedPath): WriteTarget => ({
  path: place.path,
  shown: place.shown,
  requestedPath,
  expectedIdentity: place.kind === "absent" ? "absent" : place.identity,
  invalidReason: place.fault,
});
