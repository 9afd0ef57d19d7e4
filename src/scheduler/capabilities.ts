import { PolicyError } from "../policy/error.ts";
import type {
  SideQueryModel,
  Capabilities,
  WorkspaceFiles,
  Memory,
  OpenedFile,
  FileSearch,
  Shell,
  Web,
} from "../tools/capabilities.ts";
import { ToolFailure } from "../tools/tool.ts";

/** The services behind the capabilities of tools. */
export type PolicyServices = {
  readonly files: WorkspaceFiles;
  readonly shell: Shell;
  readonly web: Web;
  readonly search: FileSearch;
  readonly memory: Memory;
  readonly model?: SideQueryModel;
};

/** The part of the capabilities that differs from call to call. */
type CallGrant = Pick<Capabilities, "report" | "signal" | "approved">;

/** Creates the capabilities of one call. */
export type CreateCapabilities = (grant: CallGrant) => Capabilities;

export const createCapabilities = ({
  files,
  shell,
  web,
  search,
  memory,
  model,
}: PolicyServices): CreateCapabilities => {
  const adapted = {
    files: adaptFiles(files),
    shell: { run: adapt(shell.run) },
    web: { fetch: adapt(web.fetch) },
    search: adaptSearch(search, files),
    memory: { path: memory.path, read: adapt(memory.read), write: adapt(memory.write) },
    ...(model === undefined ? {} : { model }),
  };
  return (grant) => ({ ...adapted, ...grant });
};

const adaptFiles = (files: WorkspaceFiles): WorkspaceFiles => ({
  roots: files.roots,
  resolve: adapt(files.resolve),
  open: async (path) => adaptOpen(await adapt(files.open)(path)),
  bytes: adapt(files.bytes),
  list: adapt(files.list),
  ignored: adapt(files.ignored),
  ignoring: adapt(files.ignoring),
  write: adapt(files.write),
  keep: adapt(files.keep),
});

const adaptOpen = ({ place, read, close }: OpenedFile): OpenedFile => ({ place, read: adapt(read), close });

/** Whatever path a tool names, only the workspace is searched. */
const adaptSearch = (search: FileSearch, files: WorkspaceFiles): FileSearch => ({
  files: adapt(async (folder, options) => search.files((await files.resolve(folder)).path, options)),
  text: adapt(async (path, options) => search.text((await files.resolve(path)).path, options)),
});

const adapt =
  <Given extends readonly unknown[], Result>(
    work: (...given: Given) => Promise<Result>,
  ): ((...given: Given) => Promise<Result>) =>
  async (...given) => {
    try {
      return await work(...given);
    } catch (error) {
      throw asToolFailure(error);
    }
  };

export const asToolFailure = (error: unknown): unknown =>
  error instanceof PolicyError ? new ToolFailure(error.type, error.message, { cause: error }) : error;
