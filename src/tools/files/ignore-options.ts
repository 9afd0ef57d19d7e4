import { boolean, object, optional, type Schema } from "../schema.ts";
import type { IgnoreFilter } from "../capabilities.ts";

/** Which ignore files to respect; by default all of them. */
export const ignoreOptionsSchema: Schema<IgnoreParameters | undefined> & { readonly isOptional: true } = optional(
  object(
    {
      respect_git_ignore: optional(boolean({ description: "Respect .gitignore. Default: true." })),
      respect_gemini_ignore: optional(boolean({ description: "No effect: always respected." })),
    },
    { description: "Which ignore files to respect." },
  ),
);

/** Parameters of the tools that list files. */
export type IgnoreParameters = {
  readonly respect_git_ignore?: boolean | undefined;
  readonly respect_gemini_ignore?: boolean | undefined;
};

/** Converts the parameters. .parleyignore and .geminiignore always apply, whatever the model asks for. */
export const toIgnoreFilter = (options: IgnoreParameters | undefined): IgnoreFilter => ({
  git: options?.respect_git_ignore ?? true,
  own: true,
});

/** A notice for a model that asks to see files the user excluded from models. */
export const ignoreNotices = (options: IgnoreParameters | undefined): readonly string[] =>
  options?.respect_gemini_ignore === false
    ? ["(respect_gemini_ignore: false has no effect: .geminiignore and .parleyignore are always respected)"]
    : [];
