import { integer, object, optional, string, type ValueOf } from "../schema.ts";
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

const input = object({
  file_path: string({ minLength: 1, description: "Path of the file, absolute or relative to the workspace." }),
  old_string: string({
    description: "The exact text to replace, with enough context to be unique. Empty to create a new file.",
  }),
  new_string: string({ description: "The replacement text." }),
  expected_replacements: optional(
    integer({ minimum: 0, description: "Number of occurrences to replace. Default: 1; 0 replaces all." }),
  ),
});

type ReplaceInput = ValueOf<typeof input>;

export const replace: AnyTool = defineTool({
  name: "replace",
  description: "Replaces text in a file. old_string must match exactly, so read the file first.",
  access: "write",
  input,
  aliases: { file_path: ["absolute_path", "path"] },
  normalizeInput: fromAllowMultiple,
  touches: ({ file_path }) => ({ writes: [file_path] }),
  title: ({ file_path }) => `Edit ${file_path}`,
  propose: async (args, capabilities) => (await computeEdit(args, capabilities)).proposal,
  amend: (args, proposal, text) => ({ ...replaceWholeFile(args, proposal, text), expected_replacements: 1 }),
  run: async (args, capabilities) => {
    const { proposal, was: file, count } = await computeEdit(args, capabilities);
    requireApproved(capabilities, proposal);
    await saveEditableFile(capabilities.files, { path: args.file_path, text: proposal.after, was: file });
    const sentence =
      file === undefined
        ? `Created new file: ${proposal.path} with provided content.`
        : `Successfully modified file: ${proposal.path} (${count} replacement${count === 1 ? "" : "s"}).`;
    return createEditResult(sentence, proposal, capabilities.approved?.proposed);
  },
});

/** Newer models call this tool with a switch for multiple replacements. */
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
  const file = await openEditableFile(files, file_path);
  if (file === undefined)
    return {
      was: file,
      count: 1,
      proposal: { path, before: undefined, after: newFileText(old_string, new_string, shown) },
    };
  const [old, newText] = [toLineFeeds(old_string), toLineFeeds(new_string)];
  if (old === newText)
    throw new ToolFailure("edit_no_change", `No changes to apply to ${shown}: old_string and new_string are the same.`);
  if (old === "" && file.text === "") return { was: file, count: 1, proposal: { path, before: "", after: newText } };
  if (old === "")
    throw new ToolFailure(
      "attempt_to_create_existing_file",
      `${shown} already exists; an empty old_string only creates new files.`,
    );
  const made = replaceExact(file.text, old, newText);
  if (made === undefined) throw createNoOccurrenceError(file.text, old, shown);
  if (expected_replacements !== 0 && made.count !== expected_replacements)
    throw new ToolFailure(
      "edit_expected_occurrence_mismatch",
      `Expected ${expected_replacements} occurrence${expected_replacements === 1 ? "" : "s"} of old_string in ${shown} but found ${made.count}. Include more context, or set expected_replacements: ${made.count}.`,
    );
  return { was: file, count: made.count, proposal: { path, before: file.text, after: made.text } };
};
