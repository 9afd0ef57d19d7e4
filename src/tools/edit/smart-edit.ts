import { z } from "zod";
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

const input = z.object({
  file_path: z.string().min(1).describe("Path of the file, absolute or relative to the workspace."),
  instruction: z.string().describe("What the edit is for, in a sentence that could be followed without the rest."),
  old_string: z.string().describe("The text to replace, as it stands in the file. Empty to make a new file."),
  new_string: z.string().describe("The text to put in its place."),
});

type SmartEditInput = z.infer<typeof input>;

export const smartEdit: AnyTool = defineTool({
  name: "smart_edit",
  description:
    "Replaces one piece of text in a file, also when it is quoted with other blanks or indentation than it has. Say in instruction what the edit is for.",
  access: "write",
  input,
  aliases: { file_path: ["absolute_path", "path"] },
  touches: ({ file_path }) => ({ writes: [file_path] }),
  title: ({ file_path, instruction }) => `Edit ${file_path}: ${instruction}`,
  propose: async (given, can) => (await computeEdit(given, can)).proposal,
  amend: replaceWholeFile,
  run: async (given, can) => {
    const { proposal, was, strategy } = await computeEdit(given, can);
    requireApproved(can, proposal);
    await saveEditableFile(can.files, { path: given.file_path, text: proposal.after, was });
    const sentence =
      was === undefined
        ? `Created new file: ${proposal.path} with provided content.`
        : `Successfully modified file: ${proposal.path} (1 replacement).${strategyNotices[strategy]}`;
    return createEditResult(sentence, proposal, can.approved?.proposed);
  },
});

type EditStrategy = Replacement["strategy"] | "corrected";

const strategyNotices: Readonly<Record<EditStrategy, string>> = {
  exact: "",
  flexible: " The text was found with other blanks around its lines.",
  regex: " The text was found with other spacing.",
  corrected: " The text was not found as quoted; a model corrected the quotation.",
};

type SmartEdit = {
  readonly proposal: EditProposal;
  readonly was: EditableFile | undefined;
  readonly strategy: EditStrategy;
};

const computeEdit = async (given: SmartEditInput, can: Capabilities): Promise<SmartEdit> => {
  const { path, shown } = await can.files.resolve(given.file_path);
  // A proposal that was approved is not found anew: a model asked twice may answer twice.
  const was = await openEditableFile(can.files, given.file_path);
  if (can.approved !== undefined)
    return { was, strategy: "exact", proposal: { path, before: was?.text, after: can.approved.after } };
  if (was === undefined) {
    const after = newFileText(given.old_string, given.new_string, shown);
    return { was, strategy: "exact", proposal: { path, before: undefined, after } };
  }
  const [old, fresh] = [toLineFeeds(given.old_string), toLineFeeds(given.new_string)];
  if (old === "" && was.text !== "")
    throw new ToolFailure(
      "attempt_to_create_existing_file",
      `${shown} exists already; an empty old_string makes new files only.`,
    );
  const made =
    old === ""
      ? { text: fresh, strategy: "exact" as const }
      : await replaceText(was.text, { ...given, old, fresh, shown }, can);
  if (made.text === was.text)
    throw new ToolFailure("edit_no_change", `No changes to apply to ${shown}: the text is already as wanted.`);
  return { was, strategy: made.strategy, proposal: { path, before: was.text, after: made.text } };
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
  can: Capabilities,
): Promise<{ text: string; strategy: EditStrategy }> => {
  const found = replaceOnce(text, quoted);
  if (found !== undefined) return found;
  const better = await correctQuotation(text, quoted, can);
  const again = better === undefined ? undefined : replaceOnce(text, { ...quoted, ...better });
  if (again === undefined) throw createNoOccurrenceError(text, quoted.old, quoted.shown);
  return { text: again.text, strategy: "corrected" };
};

/** From strict to lenient; the first that finds the text decides, and it must stand there once. */
const replaceOnce = (text: string, { old, fresh, shown }: QuotedEdit): Replacement | undefined => {
  const found =
    replaceExact(text, old, fresh) ?? replaceIgnoringIndentation(text, old, fresh) ?? replaceByTokens(text, old, fresh);
  if (found === undefined || found.count === 1) return found;
  throw new ToolFailure(
    "edit_expected_occurrence_mismatch",
    `Expected 1 occurrence of old_string in ${shown} but found ${found.count}. Quote more of the text around it.`,
  );
};

const maxTextForModel = 200_000;

/** Asks a model, once, for the quotation that was meant. */
const correctQuotation = async (
  text: string,
  { old, fresh, instruction }: QuotedEdit,
  { model, signal }: Capabilities,
): Promise<{ readonly old: string; readonly fresh: string } | undefined> => {
  if (model === undefined || text.length > maxTextForModel) return undefined;
  const answer = await askModel(
    model,
    [
      "An edit of a file failed because the text to replace was not found in it. Find the text that was meant.",
      `The edit is for: ${instruction}`,
      `The text that was quoted:\n<old>\n${old}\n</old>`,
      `What was to stand in its place:\n<new>\n${fresh}\n</new>`,
      `The file:\n<file>\n${text}\n</file>`,
      'Answer with nothing but JSON: {"old": "text exactly as in the file", "new": "what stands in its place"}. Answer {} if it is not there.',
    ].join("\n\n"),
    signal,
  );
  return parseCorrection(answer);
};

/** A question that cannot be asked is no reason for another failure than the one there is. */
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
    const parsed = z.object({ old: z.string().min(1), new: z.string() }).safeParse(JSON.parse(json));
    return parsed.success ? { old: parsed.data.old, fresh: parsed.data.new } : undefined;
  } catch {
    return undefined;
  }
};
