import type { Disk } from "../../world/disk.ts";
import { formatPermissionRule, parsePermissionRule, type PermissionRule } from "../gate/permission-rules.ts";
import { openAnswerStore } from "./answer-store.ts";

/** A permission rule the person stored for one project. */
export type StoredRule = { readonly list: RuleList; readonly rule: PermissionRule };

/** Which list a rule is on. */
export type RuleList = "allow" | "ask" | "deny";

/** Stores the permission rules of one project in Parley's own folder, never in the project. */
export type RuleStore = {
  readonly list: () => Promise<readonly StoredRule[]>;
  /** Stores a rule. Throws for one that cannot be stored. */
  readonly add: (stored: StoredRule) => Promise<void>;
  /** Removes a rule. False if it was not stored. */
  readonly remove: (stored: StoredRule) => Promise<boolean>;
};

/** Opens the rules of a project in `permissions/` of Parley's own folder. They hold for this folder only, by its canonical path. */
export const openRuleStore = (disk: Disk, home: string, folder: string): RuleStore => {
  const answers = openAnswerStore(disk, home, "permissions");
  // A deleted folder has no canonical path, so the given path is used.
  const findProject = async (): Promise<string> => (await disk.canonicalPath(folder)) ?? folder;
  return {
    list: async () => {
      const all = await answers.list();
      if (all.length === 0) return [];
      const project = await findProject();
      return all
        .filter((answer) => answer["project"] === project)
        .flatMap((answer) => readRule(answer) ?? [])
        .toSorted((one, other) => (sortKey(one) < sortKey(other) ? -1 : 1));
    },
    add: async (stored) => {
      if (!isStorable(stored.rule))
        throw new TypeError(`A rule like ${formatPermissionRule(stored.rule)} cannot be stored.`);
      await answers.save(answerFor(await findProject(), stored));
    },
    remove: async (stored) => answers.remove(answerFor(await findProject(), stored)),
  };
};

/** Whether the text of a rule says all of it: words with spaces or quotes would be read as other words. */
export const isStorable = (rule: PermissionRule): boolean => {
  const parsed = parsePermissionRule(formatPermissionRule(rule));
  return parsed !== undefined && JSON.stringify(plainRule(parsed)) === JSON.stringify(plainRule(rule));
};

/** A rule without what its text does not say. */
const plainRule = (rule: PermissionRule): unknown => ({ ...rule, identity: undefined });

const sortKey = ({ list, rule }: StoredRule): string => `${list} ${ruleFields(rule)["rule"]}`;

type RuleAnswer = { readonly [field: string]: string };

const answerFor = (project: string, { list, rule }: StoredRule): RuleAnswer => ({
  project,
  list,
  ...ruleFields(rule),
  ...("identity" in rule && rule.identity !== undefined ? { identity: rule.identity } : {}),
});

/** An exact command is stored as its words and the match, other rules as their text. */
const ruleFields = (rule: PermissionRule): RuleAnswer =>
  rule.type === "command" && rule.exact === true
    ? { rule: `run_shell_command(${rule.words.join(" ")})`, match: "exact" }
    : { rule: formatPermissionRule(rule) };

/** Reads a stored rule. Undefined for one that a newer version wrote in another form: a part of it may restrict it. */
const readRule = (answer: RuleAnswer): StoredRule | undefined => {
  const { list, rule: text = "", match, identity } = answer;
  const rule = parsePermissionRule(text);
  if (rule === undefined || (list !== "allow" && list !== "ask" && list !== "deny")) return undefined;
  if (Object.keys(answer).some((field) => !fields.includes(field))) return undefined;
  if (match !== undefined)
    return match === "exact" && rule.type === "command" ? { list, rule: { ...rule, exact: true } } : undefined;
  if (identity === undefined) return { list, rule };
  return rule.type === "tool" || rule.type === "server" || rule.type === "agent"
    ? { list, rule: { ...rule, identity } }
    : undefined;
};

const fields: readonly string[] = ["project", "list", "rule", "match", "identity"];
