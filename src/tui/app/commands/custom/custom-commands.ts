import { parseFrontMatter, splitFrontMatter } from "../../../../context/front-matter.ts";
import type { Disk } from "../../../../world/disk.ts";
import type { SlashCommand } from "../slash-command.ts";
import { readCommandFiles, type CommandFile } from "./command-files.ts";
import { fillTemplate, type PromptTemplate } from "./prompt-template.ts";

/** The folders searched for custom commands. */
export type CommandFolders = {
  readonly disk: Disk;
  /** Parley's own folder. */
  readonly home: string;
  /** The user's home folder. */
  readonly userHome: string;
  /** The project folder, if it is trusted. */
  readonly project?: string;
};

/** Custom commands, and the problems of files that could not be used. */
export type FoundCommands = { readonly commands: readonly SlashCommand[]; readonly problems: readonly string[] };

/** Finds custom commands in Markdown or in the TOML of Gemini CLI. A project's command overrides a user's. */
export const findCommands = async ({ disk, home, userHome, project }: CommandFolders): Promise<FoundCommands> => {
  const places: readonly (readonly [from: string, path: readonly string[], ends: string])[] = [
    ...foreignFolders(userHome),
    [home, ["commands"], ".md"],
    ...(project === undefined ? [] : [...foreignFolders(project), [project, [".parley", "commands"], ".md"] as const]),
  ];
  const files = (
    await Promise.all(places.map(([from, path, ends]) => readCommandFiles(disk, { from, path, extension: ends })))
  ).flat();
  const read = await Promise.all(files.map(readTemplate));
  const byName = new Map<string, SlashCommand>();
  for (const each of read) if ("template" in each) byName.set(each.template.name, templateCommand(each.template));
  return {
    commands: [...byName.values()],
    problems: read.flatMap((each) => ("problem" in each ? [each.problem] : [])),
  };
};

const foreignFolders = (from: string): readonly (readonly [string, readonly string[], string])[] => [
  [from, [".claude", "commands"], ".md"],
  [from, [".gemini", "commands"], ".toml"],
];

const templateCommand = (template: PromptTemplate): SlashCommand => ({
  name: template.name,
  description: template.description,
  ...(template.usage === undefined ? {} : { usage: template.usage }),
  run: async (words, at) => {
    const text = await fillTemplate(template, words, at);
    if (text !== undefined) await at.send(text);
  },
});

type TemplateResult = { readonly template: PromptTemplate } | { readonly problem: string };

const readTemplate = (file: CommandFile): Promise<TemplateResult> =>
  file.label.endsWith(".toml") ? readToml(file) : readMarkdown(file);

const readMarkdown = async ({ name, label, text }: CommandFile): Promise<TemplateResult> => {
  const file = splitFrontMatter(text);
  if (file === undefined) return { template: { name, description: firstLine(text), prompt: text, style: "claude" } };
  const { front, body } = file;
  const fields = await parseFrontMatter(front).catch(() => undefined);
  if (fields === undefined) return { problem: `${label} ignored: its front matter is not valid YAML.` };
  const about = textIn(fields, "description") ?? firstLine(body);
  const usage = textIn(fields, "argument-hint");
  return {
    template: { name, description: about, prompt: body, style: "claude", ...(usage === undefined ? {} : { usage }) },
  };
};

const readToml = async ({ name, label, text }: CommandFile): Promise<TemplateResult> => {
  const { parse } = await import("smol-toml");
  const fields = tryParse((): unknown => parse(text));
  const prompt = textIn(fields, "prompt");
  if (prompt === undefined) return { problem: `${label} ignored: not valid TOML with a "prompt".` };
  return {
    template: { name, description: textIn(fields, "description") ?? firstLine(prompt), prompt, style: "gemini" },
  };
};

const tryParse = (work: () => unknown): unknown => {
  try {
    return work();
  } catch {
    return undefined;
  }
};

const textIn = (fields: unknown, name: string): string | undefined => {
  const value: unknown = typeof fields === "object" && fields !== null ? Reflect.get(fields, name) : undefined;
  return typeof value === "string" ? value : undefined;
};

const firstLine = (text: string): string =>
  (text.split("\n").find((each) => each.trim() !== "") ?? "").trim().slice(0, 80);
