import type {
  Capabilities,
  FileSearch,
  Memory,
  Shell,
  SideQueryModel,
  Web,
  WorkspaceFiles,
} from "../tools/capabilities.ts";

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

/** Creates the capabilities of calls from policy's services, which implement them. Search is limited to the workspace. */
export const createCapabilities = ({ search, ...services }: PolicyServices): CreateCapabilities => {
  const shared = { ...services, search: limitSearch(search, services.files) };
  return (grant) => ({ ...shared, ...grant });
};

/** Whatever path a tool names, only the workspace is searched. */
const limitSearch = (search: FileSearch, files: WorkspaceFiles): FileSearch => ({
  files: async (folder, options) => search.files((await files.resolve(folder)).path, options),
  text: async (path, options) => search.text((await files.resolve(path)).path, options),
});
