import type { Capabilities, WorkspaceFiles, Memory, Shell, Web } from "../../tools/capabilities.ts";
import { ToolFailure } from "../../tools/tool.ts";
import type { ResolvedResources } from "./resolve-resources.ts";

/** The resources a call was approved for, in the version they had then. */
export type ApprovedResources = { readonly tool: string; readonly resolved: ResolvedResources };

/**
 * Capabilities that do an approval and nothing else: another file, command or URL, or another version of the
 * file, is refused.
 */
export const restrictCapabilities = (capabilities: Capabilities, allowed: ApprovedResources): Capabilities => ({
  ...capabilities,
  files: restrictFiles(capabilities.files, allowed),
  shell: restrictShell(capabilities, allowed),
  web: restrictWeb(capabilities.web, allowed),
  memory: restrictMemory(capabilities.memory, allowed),
});

const restrictFiles = (files: WorkspaceFiles, { tool, resolved }: ApprovedResources): WorkspaceFiles => {
  const expected = new Map(resolved.writes.map(({ path, expectedIdentity }) => [path, expectedIdentity]));
  return {
    ...files,
    write: async (path, bytes, was) => {
      const { path: real, shown } = await files.resolve(path);
      const approved = expected.get(real);
      if (approved === undefined) throw notApproved(tool, `writing ${shown}`);
      if (approved !== was && approved !== anyVersion)
        throw new ToolFailure("file_modified_conflict", `${shown} changed after this was approved. Read it again.`);
      await files.write(real, bytes, was);
      expected.set(real, anyVersion);
    },
  };
};

/** After a call's own first write, any later version may be its own. */
const anyVersion = "*";

const restrictShell = ({ shell, files }: Capabilities, { tool, resolved }: ApprovedResources): Shell => ({
  run: async (command) => {
    const { path } = await files.resolve(command.folder === "" ? "." : command.folder);
    if (command.text !== resolved.command?.text || path !== resolved.command.folder)
      throw notApproved(tool, `running ${command.text}`);
    return shell.run({ ...command, folder: path });
  },
});

const restrictWeb = (web: Web, { tool, resolved }: ApprovedResources): Web => ({
  fetch: async (url, options) => {
    if (!resolved.urls.includes(url)) throw notApproved(tool, `fetching ${url}`);
    return web.fetch(url, options);
  },
});

const restrictMemory = (memory: Memory, { tool, resolved }: ApprovedResources): Memory => ({
  ...memory,
  write: async (text) => {
    if (resolved.unnamed !== tool) throw notApproved(tool, `writing ${memory.path}`);
    await memory.write(text);
  },
});

const notApproved = (tool: string, what: string): ToolFailure =>
  new ToolFailure("policy_violation", `${tool} was not approved for ${what}.`);
