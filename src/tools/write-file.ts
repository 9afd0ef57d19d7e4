import { z } from "zod";
import type { Files } from "./capabilities.ts";
import { demandApproved, editResult, openText, saveText, type TextFile } from "./edit-text.ts";
import { plainEnds } from "./line-ends.ts";
import { defineTool, type AnyTool, type Proposal } from "./tool.ts";

const input = z.object({
  file_path: z.string().min(1).describe("Path of the file, absolute or relative to the workspace."),
  content: z.string().describe("All of the text the file is to hold."),
});

export const writeFile: AnyTool = defineTool({
  name: "write_file",
  about: "Writes a whole text file: a new one, with the folders it needs, or in place of the one that is there.",
  access: "write",
  input,
  aliases: { file_path: ["absolute_path", "path"] },
  touches: ({ file_path }) => ({ writes: [file_path] }),
  title: ({ file_path }) => `Write ${file_path}`,
  propose: async (given, { files }) => (await written(given, files)).proposal,
  amend: (given, _, edited) => ({ ...given, content: edited }),
  run: async (given, can) => {
    const { proposal, was } = await written(given, can.files);
    demandApproved(can, proposal);
    await saveText(can.files, { path: given.file_path, text: proposal.after, was });
    const sentence =
      was === undefined
        ? `Successfully created and wrote to new file: ${proposal.path}.`
        : `Successfully overwrote file: ${proposal.path}.`;
    return editResult(sentence, proposal, can.approved?.proposed);
  },
});

type Written = { readonly proposal: Proposal; readonly was: TextFile | undefined };

const written = async ({ file_path, content }: z.infer<typeof input>, files: Files): Promise<Written> => {
  const { path } = await files.resolve(file_path);
  const was = await openText(files, file_path);
  // Line ends are a file's own matter; those of a new one are what the model says.
  const after = was === undefined || !was.raw.includes("\n") ? content : plainEnds(content);
  return { proposal: { path, before: was?.text, after }, was };
};
