import { join } from "node:path";
import { isObject } from "../../conversation/json.ts";
import { parseSettings } from "../../policy/trust/settings-json.ts";
import { readProjectFile } from "../../policy/trust/project-settings.ts";
import { toPlainValue } from "../../settings/file/node.ts";
import type { World } from "../../world/world.ts";
import { importHooks, type HookImportAgent, type ImportedHooks } from "./import-hooks.ts";

/** The hooks found in one file of another agent. */
export type FoundHookFile = { readonly file: string } & (
  | { readonly imported: ImportedHooks }
  /** Why the file could not be read. */
  | { readonly problem: string }
);

/** Where an agent keeps hooks: in the home folder, and in a project. Settings of a project are never read for the person. */
const hookFiles: Readonly<
  Record<HookImportAgent, { readonly user: readonly HookFile[]; readonly project: readonly HookFile[] }>
> = {
  claude: {
    user: [[".claude", "settings.json"]],
    project: [
      [".claude", "settings.json"],
      [".claude", "settings.local.json"],
    ],
  },
  codex: {
    user: [
      [".codex", "hooks.json"],
      [".codex", "config.toml"],
    ],
    project: [
      [".codex", "hooks.json"],
      [".codex", "config.toml"],
    ],
  },
  gemini: { user: [[".gemini", "settings.json"]], project: [[".gemini", "settings.json"]] },
};

type HookFile = readonly [string, ...string[]];

/**
 * Reads the hooks of another agent: those of the person, in their home folder, or those of a project. The caller makes
 * sure that a project is trusted. Files without hooks are not listed.
 */
export const findHookFiles = async (
  { disk, host }: Pick<World, "disk" | "host">,
  agent: HookImportAgent,
  place: { readonly project?: string } = {},
): Promise<readonly FoundHookFile[]> => {
  const root = place.project ?? host.home;
  const names = hookFiles[agent][place.project === undefined ? "user" : "project"];
  const found = await Promise.all(
    names.map(async (name): Promise<readonly FoundHookFile[]> => {
      const file = join(root, ...name);
      const read = await readProjectFile(disk, root, name);
      if (read === undefined) return [];
      if ("refused" in read) return [{ file, problem: `${file} is not read: ${read.refused}.` }];
      const parsed = await parseFile(file, read.text);
      if ("problem" in parsed) return [{ file, problem: `${file} is not read: ${parsed.problem}` }];
      const hooks = isObject(parsed.value) ? parsed.value["hooks"] : undefined;
      return hooks === undefined ? [] : [{ file, imported: withDisabled(importHooks(agent, hooks), parsed.value) }];
    }),
  );
  return found.flat();
};

/** Describes the hooks of a file in full, and what is not taken of them, for the person's consent. */
export const describeHookFile = (file: FoundHookFile): readonly string[] => {
  if ("problem" in file) return [file.problem];
  const { hooks, count, notTaken } = file.imported;
  return [
    `${file.file}: ${count} ${count === 1 ? "hook" : "hooks"}`,
    ...Object.entries(hooks).flatMap(([event, groups]) =>
      groups.flatMap(({ matcher, hooks: handlers }) =>
        handlers.map(({ type, command, args = [], url }) => {
          const what = type === "http" ? (url ?? "") : [command ?? "", ...args].join(" ");
          return `  ${event} ${matcher ?? "*"}: ${what}`;
        }),
      ),
    ),
    ...notTaken.map(({ what, why }) => `  not taken: ${what}. ${why}`),
  ];
};

const parseFile = async (
  file: string,
  text: string,
): Promise<{ readonly value: unknown } | { readonly problem: string }> => {
  if (!file.endsWith(".toml")) {
    const parsed = await parseSettings(text);
    return parsed.ok ? { value: toPlainValue(parsed.node) } : { problem: parsed.problem };
  }
  const { parse } = await import("smol-toml");
  try {
    return { value: parse(text) };
  } catch (error) {
    return { problem: error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error) };
  }
};

/** Hooks that are switched off where they come from are not taken. */
const withDisabled = (imported: ImportedHooks, settings: unknown): ImportedHooks => {
  const isOff =
    isObject(settings) &&
    (settings["disableAllHooks"] === true ||
      (isObject(settings["hooksConfig"]) && settings["hooksConfig"]["enabled"] === false));
  if (!isOff) return imported;
  return { hooks: {}, count: 0, notTaken: [{ what: "hooks", why: "All hooks are switched off in this file." }] };
};
