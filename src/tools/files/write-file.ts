import { object, string, type ValueOf } from "../schema.ts";
import type { WorkspaceFiles } from "../capabilities.ts";
import {
  requireApproved,
  createEditResult,
  openEditableFile,
  saveEditableFile,
  type EditableFile,
} from "../edit/editable-file.ts";
import { toLineFeeds } from "../edit/line-endings.ts";
import { defineTool, type AnyTool, type EditProposal } from "../tool.ts";

const input = object({
  file_path: string({ minLength: 1, description: "Path of the file, absolute or relative to the workspace." }),
  content: string({ description: "The whole text of the file." }),
});

export const writeFile: AnyTool = defineTool({
  name: "write_file",
  description: "Writes a text file: creates it with its directories, or replaces the existing one.",
  access: "write",
  input,
  aliases: { file_path: ["absolute_path", "path"] },
  touches: ({ file_path }) => ({ writes: [file_path] }),
  title: ({ file_path }) => `Write ${file_path}`,
  propose: async (args, { files }) => (await computeWrite(args, files)).proposal,
  amend: (args, _, edited) => ({ ...args, content: edited }),
  run: async (args, capabilities) => {
    const { proposal, was: file } = await computeWrite(args, capabilities.files);
    requireApproved(capabilities, proposal);
    await saveEditableFile(capabilities.files, { path: args.file_path, text: proposal.after, was: file });
    const sentence =
      file === undefined
        ? `Successfully created and wrote to new file: ${proposal.path}.`
        : `Successfully overwrote file: ${proposal.path}.`;
    return createEditResult(sentence, proposal, capabilities.approved?.proposed);
  },
});

type WriteEdit = { readonly proposal: EditProposal; readonly was: EditableFile | undefined };

const computeWrite = async (
  { file_path, content }: ValueOf<typeof input>,
  files: WorkspaceFiles,
): Promise<WriteEdit> => {
  const { path } = await files.resolve(file_path);
  const file = await openEditableFile(files, file_path);
  // An existing file keeps its line endings; a new one gets the model's.
  const after = file === undefined || !file.raw.includes("\n") ? content : toLineFeeds(content);
  return { proposal: { path, before: file?.text, after }, was: file };
};
