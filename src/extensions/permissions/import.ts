import { isDeepStrictEqual } from "node:util";
import { approvalModes, type ApprovalMode } from "../../policy/gate/approval-mode.ts";
import { formatPermissionRule, parsePermissionRule, type PermissionRule } from "../../policy/gate/permission-rules.ts";
import { openRuleStore, type RuleList } from "../../policy/trust/stored-rules.ts";
import { readSettings } from "../../settings/file/read.ts";
import { setSetting } from "../../settings/file/write.ts";
import type { SettingsWriteWorld } from "../../settings/file/with-settings-lock.ts";
import { settingsFilePath } from "../../settings/load/load.ts";
import type { PartialSettings } from "../../settings/schema/values.ts";
import type { World } from "../../world/world.ts";
import type { FoundPermissions } from "./find.ts";
import { findRestriction, type Restriction } from "./restrictions.ts";
import type { UntranslatedRule } from "./source-rules.ts";

/** One thing an import would change: a rule, the approval mode, or a workspace folder. */
export type PermissionChange = {
  /** Whether it restricts; otherwise it allows more and needs consent. */
  readonly isTightening: boolean;
  readonly file: string;
  /** The user's settings, or the rules stored for this project. */
  readonly scope: "user" | "project";
  /** As written there. */
  readonly from: string;
} & (
  | {
      readonly type: "rule";
      readonly list: RuleList;
      readonly rule: PermissionRule;
      readonly rank?: number | undefined;
    }
  | { readonly type: "mode"; readonly mode: ApprovalMode }
  | { readonly type: "folder"; readonly folder: string }
);

/** The changes an import consists of. */
export type PermissionImport = {
  readonly changes: readonly PermissionChange[];
  /** Rules that are in force already. */
  readonly present: readonly PermissionChange[];
  readonly untranslated: readonly (UntranslatedRule & { readonly file: string })[];
};

/** Parley's folders and the project whose rules are stored. */
export type ImportTarget = {
  readonly world: SettingsWriteWorld & Pick<World, "files" | "disk" | "host">;
  /** Parley's home folder. */
  readonly home: string;
  /** The project's folder. */
  readonly folder: string;
};

/**
 * Plans the import of permissions: what tightens, what widens, what is there already and what cannot be taken over.
 * `all` are those of the agent: a rule in another of its files may limit one in these.
 */
export const planPermissionImport = async (
  found: readonly FoundPermissions[],
  target: ImportTarget,
  all: readonly FoundPermissions[] = found,
): Promise<PermissionImport> => {
  const own = await readOwnSettings(target);
  const stored = await openRuleStore(target.world.disk, target.home, target.folder).list();
  const isPresent = (change: PermissionChange): boolean => {
    switch (change.type) {
      case "rule":
        return change.scope === "project"
          ? stored.some((each) => each.list === change.list && isDeepStrictEqual(each.rule, change.rule))
          : (own[`permissions.${change.list}`] ?? []).some((text) =>
              isDeepStrictEqual(parsePermissionRule(text), change.rule),
            );
      case "mode":
        return (own["permissions.mode"] ?? "default") === change.mode;
      case "folder":
        return (own["context.includeDirectories"] ?? []).includes(change.folder);
    }
  };
  const restrictions = all.flatMap(({ permissions }) => permissions.restrictions ?? []);
  const restrictionOf = (change: PermissionChange): Restriction | undefined =>
    change.isTightening ? undefined : findRestriction(change, restrictions);
  const translated = found.flatMap((each) => listChanges(each, target.world.host.home));
  const planned = dedupe(translated.filter((change) => restrictionOf(change) === undefined));
  return {
    changes: planned.filter((change) => !isPresent(change)),
    present: planned.filter(isPresent),
    untranslated: [
      ...translated.flatMap((change) => {
        const restriction = restrictionOf(change);
        return restriction === undefined ? [] : [leaveOutWidening(change, restriction)];
      }),
      ...found.flatMap(({ file, scope, permissions }) => [
        ...permissions.untranslated.map((each) => ({ ...each, file })),
        ...(scope === "project" && permissions.mode !== undefined
          ? [{ file, from: `mode ${permissions.mode}`, reason: "an approval mode cannot be stored for one project" }]
          : []),
        ...(scope === "project" ? (permissions.folders ?? []) : []).map((folder) => ({
          file,
          from: `folder ${folder}`,
          reason: "folders cannot be added for one project; use --include-directories",
        })),
      ]),
    ],
  };
};

/** Not taken over: it would allow what the other agent restricts. */
const leaveOutWidening = (
  change: PermissionChange,
  { from }: Restriction,
): PermissionImport["untranslated"][number] => ({
  file: change.file,
  from: describeChange(change),
  reason: `"${from}" limits it there, and cannot be taken over`,
});

/** Applies changes: rules and folders are added, nothing is removed. */
export const applyPermissionChanges = async (
  changes: readonly PermissionChange[],
  { world, home, folder }: ImportTarget,
): Promise<void> => {
  const own = await readOwnSettings({ world, home, folder });
  const store = openRuleStore(world.disk, home, folder);
  for (const list of ["allow", "ask", "deny"] as const) {
    const rules = changes.flatMap((change) => (change.type === "rule" && change.list === list ? [change] : []));
    for (const { rule } of rules.filter(({ scope }) => scope === "project")) await store.add({ list, rule });
    const texts = rules.flatMap(({ scope, rule }) => (scope === "user" ? [formatPermissionRule(rule)] : []));
    if (texts.length > 0)
      await setSetting(world, home, `permissions.${list}`, [
        ...new Set([...(own[`permissions.${list}`] ?? []), ...texts]),
      ]);
  }
  const folders = changes.flatMap((change) => (change.type === "folder" ? [change.folder] : []));
  if (folders.length > 0)
    await setSetting(world, home, "context.includeDirectories", [
      ...(own["context.includeDirectories"] ?? []),
      ...folders,
    ]);
  const mode = changes.findLast((change) => change.type === "mode");
  if (mode?.type === "mode") await setSetting(world, home, "permissions.mode", mode.mode);
};

/** A change in words: `allow Bash(npm test)`. */
export const describeChange = (change: PermissionChange): string => {
  switch (change.type) {
    case "rule":
      return `${change.list} ${formatPermissionRule(change.rule)}`;
    case "mode":
      return `approval mode ${change.mode}`;
    case "folder":
      return `workspace folder ${change.folder}`;
  }
};

const readOwnSettings = async ({ world, home }: ImportTarget): Promise<PartialSettings> => {
  const file = settingsFilePath(home);
  const text = await world.files.read(file);
  return text === undefined ? {} : (await readSettings(text, file)).values;
};

const listChanges = (
  { file, scope, permissions: { rules, mode, folders = [] } }: FoundPermissions,
  userHome: string,
): readonly PermissionChange[] => [
  ...rules.map(({ list, rule, from, rank }): PermissionChange => ({
    type: "rule",
    isTightening: list !== "allow",
    file,
    scope,
    from,
    list,
    rule,
    rank,
  })),
  ...(mode === undefined || scope === "project" ? [] : [modeChange(mode, file)]),
  ...(scope === "project" ? [] : folders).map((folder): PermissionChange => ({
    type: "folder",
    isTightening: false,
    file,
    scope,
    from: folder,
    folder: folder.replace(/^~(?=\/|$)/, () => userHome),
  })),
];

const modeChange = (mode: ApprovalMode, file: string): PermissionChange => ({
  type: "mode",
  isTightening: approvalModes.indexOf(mode) <= approvalModes.indexOf("default"),
  file,
  scope: "user",
  from: mode,
  mode,
});

/** Keeps one of equal changes: several files can say the same. */
const dedupe = (changes: readonly PermissionChange[]): readonly PermissionChange[] => {
  const seen = new Map(changes.map((change) => [`${change.scope} ${describeChange(change)}`, change]));
  return [...seen.values()];
};
