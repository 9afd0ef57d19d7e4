import type { Disk } from "../../world/disk.ts";
import type { SlashCommand } from "./command.ts";
import { textsBelow, type FoundText } from "./command-files.ts";
import { filledIn, type Template } from "./template.ts";

/** Where commands are looked for. */
export type CommandPlaces = {
  readonly disk: Disk;
  /** The folder where Parley keeps its own things. */
  readonly home: string;
  /** The person's home folder. */
  readonly person: string;
  /** The project's folder, where it is trusted. */
  readonly project?: string;
};

/** The commands that were found, and what is wrong with files that describe none. */
export type FoundCommands = { readonly commands: readonly SlashCommand[]; readonly notes: readonly string[] };

/** Commands people and projects wrote, in Markdown or in the TOML of Gemini CLI. The project's count more than the person's. */
export const findCommands = async ({ disk, home, person, project }: CommandPlaces): Promise<FoundCommands> => {
  const places: readonly (readonly [from: string, path: readonly string[], ends: string])[] = [
    ...inFolder(person),
    [home, ["commands"], ".md"],
    ...(project === undefined ? [] : [...inFolder(project), [project, [".parley", "commands"], ".md"] as const]),
  ];
  const files = (await Promise.all(places.map(([from, path, ends]) => textsBelow(disk, { from, path, ends })))).flat();
  const read = await Promise.all(files.map(readTemplate));
  const byName = new Map<string, SlashCommand>();
  for (const each of read) if ("template" in each) byName.set(each.template.name, commandOf(each.template));
  return { commands: [...byName.values()], notes: read.flatMap((each) => ("problem" in each ? [each.problem] : [])) };
};

const inFolder = (from: string): readonly (readonly [string, readonly string[], string])[] => [
  [from, [".claude", "commands"], ".md"],
  [from, [".gemini", "commands"], ".toml"],
];

const commandOf = (template: Template): SlashCommand => ({
  name: template.name,
  about: template.about,
  ...(template.usage === undefined ? {} : { usage: template.usage }),
  run: async (words, at) => {
    const text = await filledIn(template, words, at);
    if (text !== undefined) await at.send(text);
  },
});

type Read = { readonly template: Template } | { readonly problem: string };

const readTemplate = (file: FoundText): Promise<Read> =>
  file.label.endsWith(".toml") ? readToml(file) : readMarkdown(file);

const readMarkdown = async ({ name, label, text }: FoundText): Promise<Read> => {
  const [, front, body = ""] = /^\uFEFF?---\r?\n(.*?)\r?\n?---[ \t]*(?:\r?\n(.*))?$/s.exec(text) ?? [];
  if (front === undefined) return { template: { name, about: firstLine(text), prompt: text, style: "claude" } };
  const { parse } = await import("yaml");
  const fields = attempt(() => parse(front) as unknown);
  if (fields === undefined) return { problem: `${label} is not used: what stands at its head is not YAML.` };
  const about = textIn(fields, "description") ?? firstLine(body);
  const usage = textIn(fields, "argument-hint");
  return { template: { name, about, prompt: body, style: "claude", ...(usage === undefined ? {} : { usage }) } };
};

const readToml = async ({ name, label, text }: FoundText): Promise<Read> => {
  const { parse } = await import("smol-toml");
  const fields = attempt((): unknown => parse(text));
  const prompt = textIn(fields, "prompt");
  if (prompt === undefined) return { problem: `${label} is not used: it is no TOML with a prompt.` };
  return { template: { name, about: textIn(fields, "description") ?? firstLine(prompt), prompt, style: "gemini" } };
};

const attempt = (work: () => unknown): unknown => {
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
