import { join } from "node:path";
import {
  listArgumentNames,
  parseFrontMatter,
  splitFrontMatter,
  type FrontMatter,
} from "../../../../context/front-matter.ts";
import { listProjectFoldersUpward } from "../../../../context/context-files/paths.ts";
import { fillVariables, type PluginFile } from "../../../../extensions/plugins/variables.ts";
import type { Disk } from "../../../../world/disk.ts";
import { builtInCommands } from "../built-in.ts";
import type { PromptCommand } from "../slash-command.ts";
import { readCommandFiles, type CommandFile } from "./command-files.ts";
import type { PromptTemplate } from "./prompt-template.ts";
import { runTemplate, type TemplateOptions } from "./run-template.ts";

/** The folders searched for custom commands. */
type CommandFolders = {
  readonly disk: Disk;
  /** Parley's own folder. */
  readonly home: string;
  /** The user's home folder. */
  readonly userHome: string;
  /** The project folder, if it is trusted. */
  readonly project?: string;
  /** Whether a folder above the project is trusted. Without it, only the project's own folder counts. */
  readonly isTrusted?: (folder: string) => Promise<boolean>;
  /** The command files of plugins. */
  readonly plugins?: readonly PluginFile[];
};

/** Custom commands, and the problems of files that could not be used. */
type FoundCommands = {
  readonly commands: readonly PromptCommand[];
  readonly problems: readonly string[];
  readonly listed: readonly ListedCommand[];
};

/** A command file, for lists. */
type ListedCommand = {
  readonly name: string;
  readonly description: string;
  /** The path of its file. */
  readonly file: string;
  /** user, project, or plugin NAME. */
  readonly source: string;
  /** The file that is used instead. */
  readonly shadowedBy?: string;
  /** Fields of the file that have no effect here, or less than where it comes from. */
  readonly notes: readonly string[];
};

/** Folders with commands, in a project and in the user's home, by the agent they are of. A later one overrides an earlier one. */
const commandFolders: readonly CommandPlace[] = [
  { path: [".codex", "prompts"], extension: ".md" },
  { path: [".opencode", "command"], extension: ".md" },
  { path: [".opencode", "commands"], extension: ".md" },
  { path: [".config", "opencode", "command"], extension: ".md" },
  { path: [".qwen", "commands"], extension: ".toml" },
  { path: [".qwen", "commands"], extension: ".md" },
  { path: [".claude", "commands"], extension: ".md" },
  { path: [".gemini", "commands"], extension: ".toml" },
  { path: [".agents", "commands"], extension: ".md" },
];

type CommandPlace = { readonly path: readonly string[]; readonly extension: string };

/**
 * Finds custom commands in Markdown or in the TOML of Gemini CLI. A project's command overrides a user's; of a project's,
 * the one nearest to its folder counts.
 */
export const findCommands = async (folders: CommandFolders): Promise<FoundCommands> => {
  const { disk, home, userHome, project, plugins = [] } = folders;
  const own: CommandPlace = { path: [".parley", "commands"], extension: ".md" };
  const within = (from: string, source: ListedCommand["source"]) => (place: CommandPlace) => ({
    from,
    source,
    ...place,
  });
  const places = [
    ...commandFolders.map(within(userHome, "user")),
    within(home, "user")({ path: ["commands"], extension: ".md" }),
    ...(await listProjectFolders(folders, project)).flatMap((folder) =>
      [...commandFolders, own].map(within(folder, "project")),
    ),
  ];
  const read = (
    await Promise.all(
      places.map(async ({ source, ...place }) =>
        Promise.all(
          (await readCommandFiles(disk, place)).map(async (file) => ({
            source,
            file: join(place.from, file.label),
            result: await readTemplate(file),
          })),
        ),
      ),
    )
  ).flat();
  const templates = read.flatMap(({ result, ...from }) => ("template" in result ? [{ ...from, ...result }] : []));
  const byName = new Map(templates.map((each) => [each.template.name, each]));
  const commands = new Map([...byName].map(([name, each]) => [name, templateCommand(each)]));
  const ofPlugins = await Promise.all(plugins.map((file) => readPluginCommand(disk, file)));
  const notUsed: string[] = [];
  const listedPlugins: ListedCommand[] = [];
  for (const [at, each] of ofPlugins.entries()) {
    const file = plugins[at];
    if (file === undefined || !("template" in each)) continue;
    const name = pluginCommandName(file, (taken) => commands.has(taken));
    if (name === undefined) notUsed.push(`${file.label} is not used: its name is taken.`);
    else {
      const template = { ...each.template, name };
      commands.set(name, templateCommand({ ...each, template }));
      listedPlugins.push({
        name,
        description: template.description,
        file: file.path,
        source: `plugin ${file.plugin}`,
        notes: each.options.notes,
      });
    }
  }
  return {
    commands: [...commands.values()],
    problems: [
      ...[...read.map(({ result }) => result), ...ofPlugins].flatMap((each) =>
        "problem" in each ? [each.problem] : [],
      ),
      ...notUsed,
    ],
    listed: templates
      .map((each): ListedCommand => {
        const { template, file, source, options } = each;
        const used = byName.get(template.name);
        return {
          name: template.name,
          description: template.description,
          file,
          source,
          ...(used === undefined || used === each ? {} : { shadowedBy: used.file }),
          notes: options.notes,
        };
      })
      .concat(listedPlugins)
      .toSorted((one, other) => (one.name < other.name ? -1 : 1)),
  };
};

/**
 * The name of a plugin's command: `plugin:name`, or the plain name for Gemini CLI extensions, and `extension.name` if
 * another command has that. Undefined if that is taken too.
 */
const pluginCommandName = (
  { name, plugin, isNamespaced }: PluginFile,
  isCustom: (name: string) => boolean,
): string | undefined => {
  const isTaken = (wanted: string): boolean =>
    isCustom(wanted) || builtInCommands.some((each) => each.name === wanted || each.aliases?.includes(wanted) === true);
  const wanted = isNamespaced ? [`${plugin}:${name}`] : [name, `${plugin}.${name}`];
  return wanted.find((each) => !isTaken(each));
};

const readPluginCommand = async (disk: Disk, { name, path, label, variables }: PluginFile): Promise<TemplateResult> => {
  const head = await disk.readHead(path, { maxBytes: 100_000 }).catch(() => undefined);
  if (head === undefined) return { problem: `${label} ignored: it could not be read.` };
  const text = fillVariables(new TextDecoder().decode(head.bytes as Uint8Array), variables);
  return readTemplate({ name, label, text });
};

const listProjectFolders = async (
  { disk, userHome, isTrusted }: CommandFolders,
  project: string | undefined,
): Promise<readonly string[]> => {
  if (project === undefined) return [];
  return isTrusted === undefined ? [project] : listProjectFoldersUpward({ disk, isTrusted, person: userHome }, project);
};

const templateCommand = ({ template, options }: ReadTemplate): PromptCommand => ({
  name: template.name,
  description: template.description,
  ...(template.usage === undefined ? {} : { usage: template.usage }),
  run: runTemplate(template, options),
});

type ReadTemplate = { readonly template: PromptTemplate; readonly options: TemplateOptions };

type TemplateResult = ReadTemplate | { readonly problem: string };

const readTemplate = (file: CommandFile): Promise<TemplateResult> =>
  file.label.endsWith(".toml") ? readToml(file) : readMarkdown(file);

const readMarkdown = async ({ name, label, text }: CommandFile): Promise<TemplateResult> => {
  const file = splitFrontMatter(text);
  if (file === undefined)
    return {
      template: { name, description: firstLine(text), prompt: text, style: "claude", ...keyedNames(label, text) },
      options: { notes: [] },
    };
  const { front, body } = file;
  const fields = await parseFrontMatter(front).catch(() => undefined);
  if (fields === undefined) return { problem: `${label} ignored: its front matter is not valid YAML.` };
  const about = textIn(fields, "description") ?? firstLine(body);
  const usage = textIn(fields, "argument-hint");
  return {
    template: {
      name,
      description: about,
      prompt: body,
      style: "claude",
      ...(usage === undefined ? {} : { usage }),
      ...keyedNames(label, body),
      ...listArgumentNames(fields["arguments"]),
    },
    options: readOptions(fields),
  };
};

/** In prompts of Codex, `$NAME` stands for an argument that is typed as `NAME=value`. */
const keyedNames = (label: string, prompt: string): Pick<PromptTemplate, "argumentNames" | "isKeyed"> => {
  if (!label.startsWith(".codex/")) return {};
  const found = [...prompt.matchAll(/(?<![\\$])\$([A-Z][A-Z\d_]*)/g)].map((match) => match[1] ?? "");
  const argumentNames = [...new Set(found)].filter((name) => name !== "ARGUMENTS");
  return argumentNames.length === 0 ? {} : { argumentNames, isKeyed: true };
};

const readOptions = (fields: FrontMatter): TemplateOptions => {
  const model = textIn(fields, "model");
  const allowedTools = listTools(fields["allowed-tools"]);
  return {
    ...(model === undefined || model === "inherit" ? {} : { model }),
    ...(allowedTools.length === 0 ? {} : { allowedTools }),
    notes: Object.keys(fields)
      .filter((field) => !knownFields.has(field))
      .map((field) => `${field.slice(0, 40)} has no effect here`),
  };
};

const knownFields = new Set([
  "name",
  "description",
  "argument-hint",
  "arguments",
  "model",
  "allowed-tools",
  // Models cannot run commands here.
  "disable-model-invocation",
]);

/** A list, or rules separated by commas or spaces outside of parentheses. */
const listTools = (value: unknown): readonly string[] => {
  if (typeof value === "string") return value.match(/[^\s,(]+(?:\([^)]*\))?/g) ?? [];
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
};

const readToml = async ({ name, label, text }: CommandFile): Promise<TemplateResult> => {
  const { parse } = await import("smol-toml");
  const fields = tryParse((): unknown => parse(text));
  const prompt = textIn(fields, "prompt");
  if (prompt === undefined) return { problem: `${label} ignored: not valid TOML with a "prompt".` };
  return {
    template: { name, description: textIn(fields, "description") ?? firstLine(prompt), prompt, style: "gemini" },
    options: { notes: [] },
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
