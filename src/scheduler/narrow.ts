import type { Capabilities, Files, Memory, Shell, Web } from "../tools/capabilities.ts";
import { ToolFailure } from "../tools/tool.ts";
import type { Resolved } from "./resolve.ts";

/** The effects that were allowed, on what stood there then. */
export type Allowed = { readonly tool: string; readonly resolved: Resolved };

/** Capabilities that do what was approved and nothing else: another file, another command, another version of the file is refused. */
export const narrow = (can: Capabilities, allowed: Allowed): Capabilities => ({
  ...can,
  files: narrowFiles(can.files, allowed),
  shell: narrowShell(can, allowed),
  web: narrowWeb(can.web, allowed),
  memory: narrowMemory(can.memory, allowed),
});

const narrowFiles = (files: Files, { tool, resolved }: Allowed): Files => {
  const expected = new Map(resolved.writes.map(({ path, was }) => [path, was]));
  return {
    ...files,
    write: async (path, bytes, was) => {
      const { path: real, shown } = await files.resolve(path);
      const approved = expected.get(real);
      if (approved === undefined) throw unapproved(tool, `writing ${shown}`);
      if (approved !== was && approved !== anything)
        throw new ToolFailure("file_modified_conflict", `${shown} changed after this was approved. Read it again.`);
      await files.write(real, bytes, was);
      expected.set(real, anything);
    },
  };
};

/** After its own first write a call knows best what it left there. */
const anything = "*";

const narrowShell = ({ shell, files }: Capabilities, { tool, resolved }: Allowed): Shell => ({
  run: async (command) => {
    const { path } = await files.resolve(command.folder === "" ? "." : command.folder);
    if (command.text !== resolved.command?.text || path !== resolved.command.folder)
      throw unapproved(tool, `running ${command.text}`);
    return shell.run({ ...command, folder: path });
  },
});

const narrowWeb = (web: Web, { tool, resolved }: Allowed): Web => ({
  fetch: async (url, options) => {
    if (!resolved.urls.includes(url)) throw unapproved(tool, `fetching ${url}`);
    return web.fetch(url, options);
  },
});

const narrowMemory = (memory: Memory, { tool, resolved }: Allowed): Memory => ({
  ...memory,
  write: async (text) => {
    if (resolved.unnamed !== tool) throw unapproved(tool, `writing ${memory.path}`);
    await memory.write(text);
  },
});

const unapproved = (tool: string, what: string): ToolFailure =>
  new ToolFailure("policy_violation", `${tool} was not approved for ${what}.`);
