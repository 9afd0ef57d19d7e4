import { z } from "zod";
import type { AskModel, Capabilities } from "./capabilities.ts";
import { demandApproved, editResult, openText, saveText, type TextFile } from "./edit-text.ts";
import { plainEnds } from "./line-ends.ts";
import { replaceByTokens, replaceExactly, replaceFlexibly, type Replaced } from "./matching.ts";
import { newFile, noOccurrence, wholeFile } from "./occurrence.ts";
import { defineTool, ToolFailure, type AnyTool, type Proposal } from "./tool.ts";

const input = z.object({
  file_path: z.string().min(1).describe("Path of the file, absolute or relative to the workspace."),
  instruction: z.string().describe("What the edit is for, in a sentence that could be followed without the rest."),
  old_string: z.string().describe("The text to replace, as it stands in the file. Empty to make a new file."),
  new_string: z.string().describe("The text to put in its place."),
});

type Input = z.infer<typeof input>;

export const smartEdit: AnyTool = defineTool({
  name: "smart_edit",
  about:
    "Replaces one piece of text in a file, also when it is quoted with other blanks or indentation than it has. Say in instruction what the edit is for.",
  access: "write",
  input,
  aliases: { file_path: ["absolute_path", "path"] },
  touches: ({ file_path }) => ({ writes: [file_path] }),
  title: ({ file_path, instruction }) => `Edit ${file_path}: ${instruction}`,
  propose: async (given, can) => (await edited(given, can)).proposal,
  amend: wholeFile,
  run: async (given, can) => {
    const { proposal, was, how } = await edited(given, can);
    demandApproved(can, proposal);
    await saveText(can.files, { path: given.file_path, text: proposal.after, was });
    const sentence =
      was === undefined
        ? `Created new file: ${proposal.path} with provided content.`
        : `Successfully modified file: ${proposal.path} (1 replacement).${words[how]}`;
    return editResult(sentence, proposal, can.approved?.proposed);
  },
});

type How = Replaced["how"] | "corrected";

const words: Readonly<Record<How, string>> = {
  exact: "",
  flexible: " The text was found with other blanks around its lines.",
  regex: " The text was found with other spacing.",
  corrected: " The text was not found as quoted; a model corrected the quotation.",
};

type Edited = { readonly proposal: Proposal; readonly was: TextFile | undefined; readonly how: How };

const edited = async (given: Input, can: Capabilities): Promise<Edited> => {
  const { path, shown } = await can.files.resolve(given.file_path);
  // A proposal that was approved is not found anew: a model asked twice may answer twice.
  const was = await openText(can.files, given.file_path);
  if (can.approved !== undefined)
    return { was, how: "exact", proposal: { path, before: was?.text, after: can.approved.after } };
  if (was === undefined) {
    const after = newFile(given.old_string, given.new_string, shown);
    return { was, how: "exact", proposal: { path, before: undefined, after } };
  }
  const [old, fresh] = [plainEnds(given.old_string), plainEnds(given.new_string)];
  if (old === "" && was.text !== "")
    throw new ToolFailure(
      "attempt_to_create_existing_file",
      `${shown} exists already; an empty old_string makes new files only.`,
    );
  const made =
    old === ""
      ? { text: fresh, how: "exact" as const }
      : await replaced(was.text, { ...given, old, fresh, shown }, can);
  if (made.text === was.text)
    throw new ToolFailure("edit_no_change", `No changes to apply to ${shown}: the text is already as wanted.`);
  return { was, how: made.how, proposal: { path, before: was.text, after: made.text } };
};

type Quoted = { readonly old: string; readonly fresh: string; readonly shown: string; readonly instruction: string };

const replaced = async (text: string, quoted: Quoted, can: Capabilities): Promise<{ text: string; how: How }> => {
  const found = once(text, quoted);
  if (found !== undefined) return found;
  const better = await corrected(text, quoted, can);
  const again = better === undefined ? undefined : once(text, { ...quoted, ...better });
  if (again === undefined) throw noOccurrence(text, quoted.old, quoted.shown);
  return { text: again.text, how: "corrected" };
};

/** From strict to lenient; the first that finds the text decides, and it must stand there once. */
const once = (text: string, { old, fresh, shown }: Quoted): Replaced | undefined => {
  const found =
    replaceExactly(text, old, fresh) ?? replaceFlexibly(text, old, fresh) ?? replaceByTokens(text, old, fresh);
  if (found === undefined || found.count === 1) return found;
  throw new ToolFailure(
    "edit_expected_occurrence_mismatch",
    `Expected 1 occurrence of old_string in ${shown} but found ${found.count}. Quote more of the text around it.`,
  );
};

const mostAsked = 200_000;

/** Asks a model, once, for the quotation that was meant. */
const corrected = async (
  text: string,
  { old, fresh, instruction }: Quoted,
  { model, signal }: Capabilities,
): Promise<{ readonly old: string; readonly fresh: string } | undefined> => {
  if (model === undefined || text.length > mostAsked) return undefined;
  const answer = await asked(
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
  return readCorrection(answer);
};

/** A question that cannot be asked is no reason for another failure than the one there is. */
const asked = async (model: AskModel, prompt: string, signal: AbortSignal): Promise<string> => {
  try {
    return await model.ask(prompt, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    return "";
  }
};

const readCorrection = (answer: string): { readonly old: string; readonly fresh: string } | undefined => {
  const json = answer.slice(answer.indexOf("{"), answer.lastIndexOf("}") + 1);
  try {
    const parsed = z.object({ old: z.string().min(1), new: z.string() }).safeParse(JSON.parse(json));
    return parsed.success ? { old: parsed.data.old, fresh: parsed.data.new } : undefined;
  } catch {
    return undefined;
  }
};
