import { z } from "zod";
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

const input = z.object({
  file_path: z.string().min(1).describe("Path of the file, absolute or relative to the workspace."),
  content: z.string().describe("All of the text the file is to hold."),
});

export const writeFile: AnyTool = defineTool({
  name: "write_file",
  description: "Writes a whole text file: a new one, with the folders it needs, or in place of the one that is there.",
  access: "write",
  input,
  aliases: { file_path: ["absolute_path", "path"] },
  touches: ({ file_path }) => ({ writes: [file_path] }),
  title: ({ file_path }) => `Write ${file_path}`,
  propose: async (given, { files }) => (await computeWrite(given, files)).proposal,
  amend: (given, _, edited) => ({ ...given, content: edited }),
  run: async (given, can) => {
    const { proposal, was } = await computeWrite(given, can.files);
    requireApproved(can, proposal);
    await saveEditableFile(can.files, { path: given.file_path, text: proposal.after, was });
    const sentence =
      was === undefined
        ? `Successfully created and wrote to new file: ${proposal.path}.`
        : `Successfully overwrote file: ${proposal.path}.`;
    return createEditResult(sentence, proposal, can.approved?.proposed);
  },
});

type WriteEdit = { readonly proposal: EditProposal; readonly was: EditableFile | undefined };

const computeWrite = async (
  { file_path, content }: z.infer<typeof input>,
  files: WorkspaceFiles,
): Promise<WriteEdit> => {
  const { path } = await files.resolve(file_path);
  const was = await openEditableFile(files, file_path);
  // Line ends are a file's own matter; those of a new one are what the model says.
  const after = was === undefined || !was.raw.includes("\n") ? content : toLineFeeds(content);
  return { proposal: { path, before: was?.text, after }, was };
};
