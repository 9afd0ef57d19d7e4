import { isObject, type JsonObject } from "../../conversation/json.ts";
import type { PluginHooks, PluginItem } from "./plugin.ts";
import type { PluginTree } from "./tree.ts";

const maxManifestBytes = 1_000_000;

/** A JSON file of a plugin: its object, undefined if there is no such file, or why it cannot be used. */
export type ManifestFile = JsonObject | { readonly problem: string } | undefined;

/** Reads a JSON object. */
export const readJsonObject = async (tree: PluginTree, path: string): Promise<ManifestFile> => {
  if (!tree.files.some((each) => each.path === path)) return undefined;
  const text = await readText(tree, path);
  if (typeof text !== "string") return text;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? (value as JsonObject) : { problem: `${path} is not a JSON object.` };
  } catch {
    return { problem: `${path} is not valid JSON.` };
  }
};

/** Reads a text file of limited size. */
export const readText = async (tree: PluginTree, path: string): Promise<string | { readonly problem: string }> =>
  (tree.files.find((each) => each.path === path)?.size ?? 0) > maxManifestBytes
    ? { problem: `${path} is too large.` }
    : new TextDecoder().decode(await tree.read(path)).replace(/^\uFEFF/, "");

/** Whether a file could not be used. */
export const isProblem = (file: ManifestFile): file is { readonly problem: string } =>
  file !== undefined && typeof file["problem"] === "string" && Object.keys(file).length === 1;

/** The text of a field, if it is one. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;

/** Version and description of a manifest. */
export const aboutOf = (manifest: JsonObject): { readonly version?: string; readonly description: string } => {
  const version = textOf(manifest["version"])?.slice(0, 64);
  const description = (textOf(manifest["description"]) ?? "").slice(0, 2000);
  return version === undefined ? { description } : { version, description };
};

/** Lists the skills in a folder: its immediate children with a SKILL.md. */
export const listSkills = (tree: PluginTree, folder: string): readonly PluginItem[] =>
  tree.files.flatMap(({ path }) => {
    const rest = below(folder, path)?.split("/");
    return rest?.length === 2 && rest[1] === "SKILL.md"
      ? [{ name: rest[0] ?? "", path: path.slice(0, -"/SKILL.md".length) }]
      : [];
  });

/** Lists the files below a folder with an extension. Their names join folders and file by colons. */
export const listFiles = (tree: PluginTree, folder: string, extension: string): readonly PluginItem[] =>
  tree.files.flatMap(({ path }) => {
    const rest = below(folder, path);
    return rest?.endsWith(extension) === true && rest.length > extension.length
      ? [{ name: rest.slice(0, -extension.length).replaceAll("/", ":"), path }]
      : [];
  });

const below = (folder: string, path: string): string | undefined =>
  folder === "" ? path : path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : undefined;

/** The hooks of a file: under `hooks`, or the file itself. */
export const hooksIn = (path: string, form: PluginHooks["form"], file: JsonObject): readonly PluginHooks[] => {
  const hooks = isObject(file["hooks"]) ? (file["hooks"] as JsonObject) : file;
  return Object.values(hooks).some((each) => Array.isArray(each)) ? [{ path, form, hooks }] : [];
};
