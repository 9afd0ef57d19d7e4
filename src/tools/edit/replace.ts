import { z } from "zod";
import type { Capabilities } from "../capabilities.ts";
import {
  requireApproved,
  createEditResult,
  openEditableFile,
  saveEditableFile,
  type EditableFile,
} from "./editable-file.ts";
import { toLineFeeds } from "./line-endings.ts";
import { replaceExact } from "./replace-text.ts";
import { newFileText, createNoOccurrenceError, replaceWholeFile } from "./no-occurrence.ts";
import { defineTool, ToolFailure, type AnyTool, type EditProposal } from "../tool.ts";

const input = z.object({
  file_path: z.string().min(1).describe("Path of the file, absolute or relative to the workspace."),
  old_string: z
    .string()
    .describe(
      "The text to replace, exactly as it stands in the file, with enough around it to be the only one. Empty to make a new file.",
    ),
  new_string: z.string().describe("The text to put in its place."),
  expected_replacements: z
    .int()
    .min(0)
    .optional()
    .describe("How often old_string stands in the file; 1 if not given, 0 for however often."),
});

type ReplaceInput = z.infer<typeof input>;

export const replace: AnyTool = defineTool({
  name: "replace",
  description: "Replaces text in a file. It must be quoted exactly, so read the file first.",
  access: "write",
  input,
  aliases: { file_path: ["absolute_path", "path"] },
  normalizeInput: fromAllowMultiple,
  touches: ({ file_path }) => ({ writes: [file_path] }),
  title: ({ file_path }) => `Edit ${file_path}`,
  propose: async (given, can) => (await computeEdit(given, can)).proposal,
  amend: (given, proposal, text) => ({ ...replaceWholeFile(given, proposal, text), expected_replacements: 1 }),
  run: async (given, can) => {
    const { proposal, was, count } = await computeEdit(given, can);
    requireApproved(can, proposal);
    await saveEditableFile(can.files, { path: given.file_path, text: proposal.after, was });
    const sentence =
      was === undefined
        ? `Created new file: ${proposal.path} with provided content.`
        : `Successfully modified file: ${proposal.path} (${count} replacement${count === 1 ? "" : "s"}).`;
    return createEditResult(sentence, proposal, can.approved?.proposed);
  },
});

/** Newer models know this tool with a switch for more than one. */
function fromAllowMultiple(raw: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { allow_multiple: isMany, ...rest } = raw;
  return isMany === true ? { expected_replacements: 0, ...rest } : rest;
}

type ReplaceEdit = { readonly proposal: EditProposal; readonly was: EditableFile | undefined; readonly count: number };

const computeEdit = async (
  { file_path, old_string, new_string, expected_replacements = 1 }: ReplaceInput,
  { files }: Pick<Capabilities, "files">,
): Promise<ReplaceEdit> => {
  const { path, shown } = await files.resolve(file_path);
  const was = await openEditableFile(files, file_path);
  if (was === undefined)
    return { was, count: 1, proposal: { path, before: undefined, after: newFileText(old_string, new_string, shown) } };
  const [old, fresh] = [toLineFeeds(old_string), toLineFeeds(new_string)];
  if (old === fresh)
    throw new ToolFailure("edit_no_change", `No changes to apply to ${shown}: old_string and new_string are the same.`);
  if (old === "" && was.text === "") return { was, count: 1, proposal: { path, before: "", after: fresh } };
  if (old === "")
    throw new ToolFailure(
      "attempt_to_create_existing_file",
      `${shown} exists already; an empty old_string makes new files only.`,
    );
  const made = replaceExact(was.text, old, fresh);
  if (made === undefined) throw createNoOccurrenceError(was.text, old, shown);
  if (expected_replacements !== 0 && made.count !== expected_replacements)
    throw new ToolFailure(
      "edit_expected_occurrence_mismatch",
      `Expected ${expected_replacements} occurrence${expected_replacements === 1 ? "" : "s"} of old_string in ${shown} but found ${made.count}. Quote more of the text around it, or say expected_replacements: ${made.count}.`,
    );
  return { was, count: made.count, proposal: { path, before: was.text, after: made.text } };
};
