import { promptSections, type PromptLine } from "./sections.ts";

/** The conditions of the default prompt. They are fixed for a session. */
export type PromptConditions = {
  /** Whether a user can answer questions. */
  readonly isInteractive: boolean;
  /** Whether commands run in a sandbox. */
  readonly isSandboxed: boolean;
  /** Whether the workspace is under git. */
  readonly hasGit: boolean;
  /** The names of the offered tools; lines about others are left out. */
  readonly tools: readonly string[];
};

/** Builds the default system prompt. The same conditions give the same bytes. */
export const buildDefaultPrompt = (setting: PromptConditions): string =>
  promptSections
    .map(({ title, lines }) => ({ title, said: lines.filter((line) => applies(line, setting)) }))
    .filter(({ said }) => said.length > 0)
    .map(({ title, said }) => `# ${title}\n\n${said.map(({ text }) => `- ${text}`).join("\n")}`)
    .reduce((all, part) => `${all}\n\n${part}`, role);

const role =
  "You are Parley, an agent that works on software in a person's terminal, through the tools you are given. Do what was asked, completely and safely, and nothing that was not.";

const applies = ({ when, needs = [] }: PromptLine, setting: PromptConditions): boolean =>
  (when === undefined || conditions[when](setting)) && needs.every((tool) => setting.tools.includes(tool));

const conditions: { readonly [when in NonNullable<PromptLine["when"]>]: (setting: PromptConditions) => boolean } = {
  interactive: ({ isInteractive }) => isInteractive,
  headless: ({ isInteractive }) => !isInteractive,
  sandboxed: ({ isSandboxed }) => isSandboxed,
  unsandboxed: ({ isSandboxed }) => !isSandboxed,
  git: ({ hasGit }) => hasGit,
};
