import { z, type ZodType } from "zod";
import type { IgnoreFilter } from "../capabilities.ts";

/** Which ignore files count; all of them unless a model says otherwise. */
export const ignoreOptionsSchema: ZodType<IgnoreParameters | undefined> = z
  .object({
    respect_git_ignore: z.boolean().optional().describe("Leave out what git ignores; true if not given."),
    respect_gemini_ignore: z
      .boolean()
      .optional()
      .describe("What .geminiignore and .parleyignore name is left out in any case."),
  })
  .optional()
  .describe("Which ignore files to respect.");

/** Options of the tools that list files. */
export type IgnoreParameters = {
  readonly respect_git_ignore?: boolean | undefined;
  readonly respect_gemini_ignore?: boolean | undefined;
};

/** The rules behind the options. What is kept from models is kept from them whatever they say. */
export const toIgnoreFilter = (options: IgnoreParameters | undefined): IgnoreFilter => ({
  git: options?.respect_git_ignore ?? true,
  own: true,
});

/** Says that a model cannot see what the person keeps from models, where it asks to. */
export const ignoreNotices = (options: IgnoreParameters | undefined): readonly string[] =>
  options?.respect_gemini_ignore === false
    ? [
        "(respect_gemini_ignore: false has no effect: .geminiignore and .parleyignore keep files from models in any case)",
      ]
    : [];
