import { join } from "node:path";
import { parseSettings } from "../../policy/trust/settings-json.ts";
import { toPlainValue } from "../../settings/file/node.ts";
import type { Environment } from "../../world/world.ts";
import type { AgentFiles } from "../agent-files.ts";
import { translateClaudePermissions } from "./claude.ts";
import { translateCodexRules } from "./codex.ts";
import { translateGeminiPolicies } from "./gemini.ts";
import { translateOpencodePermissions } from "./opencode.ts";
import { translateQwenSettings, translateToolSettings } from "./tool-settings.ts";
import { noPermissions, untranslated, type PermissionSource, type TranslatedPermissions } from "./source-rules.ts";

/** Where the permissions of other agents are looked for. */
export type PermissionLocations = {
  readonly files: AgentFiles;
  readonly env: Environment;
  /** The user's home folder. */
  readonly userHome: string;
  /** The project's folder, if it is trusted. */
  readonly project?: string;
};

/** The permissions of one file. Those of a project's file hold for that project only. */
export type FoundPermissions = {
  readonly source: PermissionSource;
  readonly file: string;
  readonly scope: "user" | "project";
  readonly permissions: TranslatedPermissions;
};

/** Finds and translates the permission rules of an agent, in the user's home and in the project. Reads only. */
export const findPermissions = async (
  source: PermissionSource,
  locations: PermissionLocations,
): Promise<readonly FoundPermissions[]> => {
  const places = await listPlaces(source, locations);
  const found = await Promise.all(
    places.map(async ({ file, scope, within }): Promise<FoundPermissions | undefined> => {
      const read = await locations.files.read(file, within);
      if (read === undefined) return undefined;
      const permissions =
        "refused" in read
          ? untranslated(file, `the file is not read: ${read.refused}`, { tool: "*" })
          : await translators[source](read.text, { scope, file });
      return { source, file, scope, permissions };
    }),
  );
  return found.filter((each) => each !== undefined).filter(({ permissions }) => !isEmpty(permissions));
};

const isEmpty = ({ rules, untranslated: rest, restrictions, mode, folders }: TranslatedPermissions): boolean =>
  rules.length === 0 && rest.length === 0 && restrictions === undefined && mode === undefined && folders === undefined;

type PermissionFile = { readonly file: string; readonly scope: "user" | "project"; readonly within: string };

/** The home folder of an agent: a variable of its own can move it. */
export const findAgentHome = (
  source: "claude" | "codex" | "gemini" | "opencode" | "qwen" | "pi",
  { env, userHome }: { readonly env: Environment; readonly userHome: string },
): string => {
  switch (source) {
    case "claude":
      return env["CLAUDE_CONFIG_DIR"] || join(userHome, ".claude");
    case "codex":
      return env["CODEX_HOME"] || join(userHome, ".codex");
    case "gemini":
      return join(userHome, ".gemini");
    case "opencode":
      return join(env["XDG_CONFIG_HOME"] || join(userHome, ".config"), "opencode");
    case "qwen":
      return join(userHome, ".qwen");
    case "pi":
      return join(userHome, ".pi", "agent");
  }
};

const listPlaces = async (
  source: PermissionSource,
  locations: PermissionLocations,
): Promise<readonly PermissionFile[]> => {
  const { files, userHome, project } = locations;
  const home = findAgentHome(source, locations);
  const homeWithin = home.startsWith(`${userHome}/`) ? userHome : home;
  const user = (...names: readonly string[]): PermissionFile => ({
    file: join(home, ...names),
    scope: "user",
    within: homeWithin,
  });
  const own = (...names: readonly string[]): readonly PermissionFile[] =>
    project === undefined ? [] : [{ file: join(project, ...names), scope: "project", within: project }];
  const inFolder = async (at: PermissionFile | undefined, ending: string): Promise<readonly PermissionFile[]> =>
    at === undefined
      ? []
      : (await files.list(at.file, at.within))
          .filter(({ name }) => name.endsWith(ending))
          .map(({ name }) => ({ ...at, file: join(at.file, name) }));
  switch (source) {
    case "claude":
      return [user("settings.json"), ...own(".claude", "settings.json"), ...own(".claude", "settings.local.json")];
    case "codex":
      return [...(await inFolder(user("rules"), ".rules")), ...(await inFolder(own(".codex", "rules")[0], ".rules"))];
    case "gemini":
      return [
        ...(await inFolder(user("policies"), ".toml")),
        user("settings.json"),
        ...own(".gemini", "settings.json"),
      ];
    case "qwen":
      return [user("settings.json"), ...own(".qwen", "settings.json")];
    case "opencode":
      return [
        user("opencode.json"),
        user("opencode.jsonc"),
        ...own("opencode.json"),
        ...own("opencode.jsonc"),
        ...own(".opencode", "opencode.json"),
      ];
  }
};

type Translator = (
  text: string,
  place: { readonly scope: "user" | "project"; readonly file: string },
) => Promise<TranslatedPermissions>;

const translators: { readonly [source in PermissionSource]: Translator } = {
  claude: async (text, { scope }) => fromJson(text, (value) => translateClaudePermissions(value, scope)),
  opencode: async (text, { scope }) => fromJson(text, (value) => translateOpencodePermissions(value, scope)),
  codex: async (text) => translateCodexRules(text),
  qwen: async (text) => fromJson(text, translateQwenSettings),
  gemini: async (text, { file }) => {
    if (file.endsWith(".json")) return fromJson(text, translateToolSettings);
    const { parse } = await import("smol-toml");
    try {
      return translateGeminiPolicies([parse(text)]);
    } catch (error) {
      return leaveOutFile(`not valid TOML: ${error instanceof Error ? firstLine(error.message) : ""}`);
    }
  },
};

const fromJson = async (
  text: string,
  translate: (value: unknown) => TranslatedPermissions,
): Promise<TranslatedPermissions> => {
  const parsed = await parseSettings(text);
  if (!parsed.ok) return text.trim() === "" ? noPermissions : leaveOutFile(`not valid JSON: ${parsed.problem}`);
  return translate(toPlainValue(parsed.node));
};

/** A file that cannot be read may restrict anything. */
const leaveOutFile = (reason: string): TranslatedPermissions => untranslated("the file", reason, { tool: "*" });

const firstLine = (text: string): string => text.split("\n", 1)[0] ?? "";
