import { object, string, type ValueOf } from "../schema.ts";
import type { SideQueryModel, Capabilities } from "../capabilities.ts";
import {
  requireApproved,
  createEditResult,
  openEditableFile,
  saveEditableFile,
  type EditableFile,
} from "./editable-file.ts";
import { toLineFeeds } from "./line-endings.ts";
import { replaceByTokens, replaceExact, replaceIgnoringIndentation, type Replacement } from "./replace-text.ts";
import { newFileText, createNoOccurrenceError, replaceWholeFile } from "./no-occurrence.ts";
import { defineTool, ToolFailure, type AnyTool, type EditProposal } from "../tool.ts";

const input = object({
  file_path: string({ minLength: 1, description: "Path of the file, absolute or relative to the workspace." }),
  instruction: string({ description: "The purpose of the edit, as a self-contained instruction." }),
  old_string: string({ description: "The text to replace, as it is in the file. Empty to create a new file." }),
  new_string: string({ description: "The replacement text." }),
});

type SmartEditInput = ValueOf<typeof input>;

export const smartEdit: AnyTool = defineTool({
  name: "smart_edit",
  description: "Replaces one occurrence of text in a file, even if whitespace or indentation differ.",
  access: "write",
  input,
  aliases: { file_path: ["absolute_path", "path"] },
  touches: ({ file_path }) => ({ writes: [file_path] }),
  title: ({ file_path, instruction }) => `Edit ${file_path}: ${instruction}`,
  propose: async (args, capabilities) => (await computeEdit(args, capabilities)).proposal,
  amend: replaceWholeFile,
  run: async (args, capabilities) => {
    const { proposal, was: file, strategy } = await computeEdit(args, capabilities);
    requireApproved(capabilities, proposal);
    await saveEditableFile(capabilities.files, { path: args.file_path, text: proposal.after, was: file });
    const sentence =
      file === undefined
        ? `Created new file: ${proposal.path} with provided content.`
        : `Successfully modified file: ${proposal.path} (1 replacement).${strategyNotices[strategy]}`;
    return createEditResult(sentence, proposal, capabilities.approved?.proposed);
  },
});

type EditStrategy = Replacement["strategy"] | "corrected";

const strategyNotices: Readonly<Record<EditStrategy, string>> = {
  exact: "",
  flexible: " The text was found with different indentation.",
  regex: " The text was found with different whitespace.",
  corrected: " The text was not found as quoted; a model corrected old_string.",
};

type SmartEdit = {
  readonly proposal: EditProposal;
  readonly was: EditableFile | undefined;
  readonly strategy: EditStrategy;
};

const computeEdit = async (args: SmartEditInput, capabilities: Capabilities): Promise<SmartEdit> => {
  const { path, shown } = await capabilities.files.resolve(args.file_path);
  // An approved edit is not computed again: a model asked twice may answer differently.
  const file = await openEditableFile(capabilities.files, args.file_path);
  if (capabilities.approved !== undefined)
    return { was: file, strategy: "exact", proposal: { path, before: file?.text, after: capabilities.approved.after } };
  if (file === undefined) {
    const after = newFileText(args.old_string, args.new_string, shown);
    return { was: file, strategy: "exact", proposal: { path, before: undefined, after } };
  }
  const [old, newText] = [toLineFeeds(args.old_string), toLineFeeds(args.new_string)];
  if (old === "" && file.text !== "")
    throw new ToolFailure(
      "attempt_to_create_existing_file",
      `${shown} already exists; an empty old_string only creates new files.`,
    );
  const made =
    old === ""
      ? { text: newText, strategy: "exact" as const }
      : await replaceText(file.text, { ...args, old, fresh: newText, shown }, capabilities);
  if (made.text === file.text)
    throw new ToolFailure("edit_no_change", `No changes to apply to ${shown}: the text is already the same.`);
  return { was: file, strategy: made.strategy, proposal: { path, before: file.text, after: made.text } };
};

type QuotedEdit = {
  readonly old: string;
  readonly fresh: string;
  readonly shown: string;
  readonly instruction: string;
};

const replaceText = async (
  text: string,
  quoted: QuotedEdit,
  capabilities: Capabilities,
): Promise<{ text: string; strategy: EditStrategy }> => {
  const found = replaceOnce(text, quoted);
  if (found !== undefined) return found;
  const better = await correctQuotation(text, quoted, capabilities);
  const again = better === undefined ? undefined : replaceOnce(text, { ...quoted, ...better });
  if (again === undefined) throw createNoOccurrenceError(text, quoted.old, quoted.shown);
  return { text: again.text, strategy: "corrected" };
};

/** From strict to lenient; the first strategy that finds the text decides, and it must occur once. */
const replaceOnce = (text: string, { old, fresh: newText, shown }: QuotedEdit): Replacement | undefined => {
  const found =
    replaceExact(text, old, newText) ??
    replaceIgnoringIndentation(text, old, newText) ??
    replaceByTokens(text, old, newText);
  if (found === undefined || found.count === 1) return found;
  throw new ToolFailure(
    "edit_expected_occurrence_mismatch",
    `Expected 1 occurrence of old_string in ${shown} but found ${found.count}. Include more context.`,
  );
};

const maxTextForModel = 200_000;

/** Asks a model, once, for the text that was meant. */
const correctQuotation = async (
  text: string,
  { old, fresh: newText, instruction }: QuotedEdit,
  { model, signal }: Capabilities,
): Promise<{ readonly old: string; readonly fresh: string } | undefined> => {
  if (model === undefined || text.length > maxTextForModel) return undefined;
  const answer = await askModel(
    model,
    [
      "An edit of a file failed because the text to replace was not found in it. Find the text that was meant.",
      `The edit is for: ${instruction}`,
      `The text that was quoted:\n<old>\n${old}\n</old>`,
      `What was to stand in its place:\n<new>\n${newText}\n</new>`,
      `The file:\n<file>\n${text}\n</file>`,
      'Answer with nothing but JSON: {"old": "text exactly as in the file", "new": "what stands in its place"}. Answer {} if it is not there.',
    ].join("\n\n"),
    signal,
  );
  return parseCorrection(answer);
};

/** If the model cannot be asked, the original failure is reported. */
const askModel = async (model: SideQueryModel, prompt: string, signal: AbortSignal): Promise<string> => {
  try {
    return await model.ask(prompt, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    return "";
  }
};

const parseCorrection = (answer: string): { readonly old: string; readonly fresh: string } | undefined => {
  const json = answer.slice(answer.indexOf("{"), answer.lastIndexOf("}") + 1);
  try {
    const { old, new: fresh } = JSON.parse(json) as Record<string, unknown>;
    return typeof old === "string" && old !== "" && typeof fresh === "string" ? { old, fresh } : undefined;
  } catch {
    return undefined;
  }
};
