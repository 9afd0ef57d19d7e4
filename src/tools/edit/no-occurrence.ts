import { findIgnoringIndentation } from "./replace-text.ts";
import { ToolFailure, type EditProposal } from "../tool.ts";

/** Replaces the whole file by the user's version of an edit. */
export const replaceWholeFile = <Edit extends object>(
  args: Edit,
  { before }: EditProposal,
  edited: string,
): Edit & { readonly old_string: string; readonly new_string: string } => ({
  ...args,
  old_string: before ?? "",
  new_string: edited,
});

/** The text of a new file. */
export const newFileText = (old: string, newText: string, shown: string): string => {
  if (old === "") return newText;
  throw new ToolFailure("file_not_found", `File not found: ${shown}. To create it, use an empty old_string.`);
};

/** The error for text that was not found, with the line where something similar is. */
export const createNoOccurrenceError = (text: string, old: string, shown: string): ToolFailure => {
  const line = findIgnoringIndentation(text, old);
  const first = old.split("\n").find((each) => each.trim() !== "") ?? "";
  const near = line === undefined ? findIgnoringIndentation(text, first) : undefined;
  const help =
    line !== undefined
      ? ` The same lines are at line ${line} with different whitespace; quote them exactly.`
      : near === undefined
        ? " Read the file again: it may have changed."
        : ` Its first line is at line ${near}, but what follows differs; read the file from there.`;
  return new ToolFailure(
    "edit_no_occurrence_found",
    `Failed to edit ${shown}: 0 occurrences found for old_string.${help} No edits were made.`,
  );
};
