import { findIgnoringIndentation } from "./replace-text.ts";
import { ToolFailure, type EditProposal } from "../tool.ts";

/** What a person wrote instead of an edit stands for the whole file. */
export const replaceWholeFile = <Edit extends object>(
  given: Edit,
  { before }: EditProposal,
  edited: string,
): Edit & { readonly old_string: string; readonly new_string: string } => ({
  ...given,
  old_string: before ?? "",
  new_string: edited,
});

/** The text of a file that is not there yet. */
export const newFileText = (old: string, fresh: string, shown: string): string => {
  if (old === "") return fresh;
  throw new ToolFailure("file_not_found", `File not found: ${shown}. To make it, use an empty old_string.`);
};

/** Says why nothing was found, and where something like it stands. */
export const createNoOccurrenceError = (text: string, old: string, shown: string): ToolFailure => {
  const line = findIgnoringIndentation(text, old);
  const first = old.split("\n").find((each) => each.trim() !== "") ?? "";
  const near = line === undefined ? findIgnoringIndentation(text, first) : undefined;
  const help =
    line !== undefined
      ? ` The same lines stand at line ${line} with other blanks or indentation; quote them as they are.`
      : near === undefined
        ? " Read the file again: it may have changed."
        : ` Its first line stands at line ${near}, but what follows differs; read the file from there.`;
  return new ToolFailure(
    "edit_no_occurrence_found",
    `Failed to edit ${shown}: 0 occurrences found for old_string.${help} No edits were made.`,
  );
};
