import { loadAgentEnvironment, type AgentEnvironment } from "../../agent/environment.ts";
import { PolicyError } from "../../policy/error.ts";
import {
  describeRuleMatch,
  describeRuleSource,
  hasRuleText,
  listConfiguredRules,
  type ListedRule,
} from "../../policy/gate/listed-rules.ts";
import { formatPermissionRule, parsePermissionRule } from "../../policy/gate/permission-rules.ts";
import { openRuleStore, type RuleStore } from "../../policy/trust/stored-rules.ts";
import { suggestRuleSyntax } from "../../settings/schema/check.ts";
import { DiskError } from "../../world/disk.ts";
import type { Arguments, CommandHandler } from "../command.ts";
import { pluralize, printJson } from "../format.ts";
import { withUserErrors } from "../sessions/context.ts";
import { alignColumns, sanitizeLine } from "../text-table.ts";
import { UserError, usageError } from "../user-error.ts";

/** `parley permissions`: shows the permission rules in force, and changes those stored for this project. */
export const permissions: CommandHandler = async (args) => {
  const [action = "list"] = args.positionals;
  const run = Object.hasOwn(actions, action) ? actions[action] : undefined;
  if (run === undefined)
    throw usageError(`Unknown action "${action}" for permissions. Available: ${Object.keys(actions).join(", ")}.`);
  return withUserErrors(async () => {
    const environment = await loadAgentEnvironment({ folder: args.value("cwd") ?? "." });
    const { world, home, folder } = environment;
    if ((await world.disk.canonicalPath(folder)) === undefined) throw new UserError(`No such folder: ${folder}.`);
    return run(args, { ...environment, stored: openRuleStore(world.disk, home.config, folder) });
  }).catch((error: unknown) => {
    if (error instanceof PolicyError || error instanceof DiskError) throw new UserError(error.message, { code: 1 });
    throw error;
  });
};

type PermissionsContext = AgentEnvironment & { readonly stored: RuleStore };

type PermissionsAction = (args: Arguments, context: PermissionsContext) => Promise<number>;

const list: PermissionsAction = async (args, { world, home, loaded, folder, stored }) => {
  if (args.positionals.length > 1)
    throw usageError(`Unexpected argument "${args.positionals[1]}" for permissions list.`);
  const { mode, trusted } = loaded.policy;
  const { readPluginRules } = await import("../../extensions/plugins/session.ts");
  const rules = { ...loaded.policy.rules, plugins: await readPluginRules(world, home.data) };
  const own = (await stored.list()).map((each): ListedRule => ({ ...each, scope: "project" }));
  const all = [...own, ...listConfiguredRules(rules, trusted)];
  const only = (rules.commandLine?.only ?? rules.settings?.only)?.map(formatPermissionRule);
  if (args.has("json"))
    return printJson({ folder, mode, trusted, rules: all.map(ruleAsJson), ...(only === undefined ? {} : { only }) });
  if (all.length === 0)
    process.stderr.write("parley: No permission rules. Add one with parley permissions add RULE.\n");
  const rows = all.map((each) => [
    each.list,
    [formatPermissionRule(each.rule), describeRuleMatch(each.rule)].filter((text) => text !== "").join(", "),
    describeRuleSource(each),
  ]);
  for (const row of alignColumns(rows)) process.stdout.write(`${sanitizeLine(row)}\n`);
  if (only !== undefined) process.stdout.write(`only  ${sanitizeLine(only.join(", "))} (permissions.only)\n`);
  noteUntrusted(
    trusted,
    own.some(({ list: name }) => name === "allow"),
  );
  return 0;
};

const ruleAsJson = ({ list: name, rule, scope, plugin }: ListedRule): object => ({
  list: name,
  rule: formatPermissionRule(rule),
  source: scope,
  ...(plugin === undefined ? {} : { plugin }),
  ...(rule.type === "command" && rule.exact === true ? { exact: true } : {}),
});

const add: PermissionsAction = async (args, { loaded, folder, stored }) => {
  const text = requireRule(args);
  const rule = parsePermissionRule(text);
  if (rule === undefined) throw new UserError(`Unknown rule "${text}". ${suggestRuleSyntax(text)}`);
  const name = chosenList(args);
  await stored.add({ list: name, rule });
  if (args.has("json")) return printJson({ folder, list: name, rule: formatPermissionRule(rule) });
  process.stdout.write(`${listVerbs[name]} in ${sanitizeLine(folder)}: ${sanitizeLine(formatPermissionRule(rule))}\n`);
  noteUntrusted(loaded.policy.trusted, name === "allow");
  return 0;
};

const chosenList = (args: Arguments): ListedRule["list"] => {
  if (args.has("deny") && args.has("ask")) throw usageError("Use --ask or --deny, not both.");
  return args.has("deny") ? "deny" : args.has("ask") ? "ask" : "allow";
};

const listVerbs: { readonly [list in ListedRule["list"]]: string } = {
  allow: "Allowed",
  ask: "Always asked about",
  deny: "Denied",
};

const remove: PermissionsAction = async (args, { folder, stored }) => {
  const text = args.has("all") ? undefined : requireRule(args);
  const matching = (await stored.list()).filter(
    (each) =>
      (text === undefined || hasRuleText(each, text)) &&
      (!args.has("deny") || each.list === "deny") &&
      (!args.has("ask") || each.list === "ask"),
  );
  for (const each of matching) await stored.remove(each);
  const removed = matching.map(({ list: name, rule }) => ({ list: name, rule: formatPermissionRule(rule) }));
  if (args.has("json")) printJson({ folder, removed });
  else if (matching.length > 0) process.stdout.write(`Removed ${pluralize(matching.length, "rule")}.\n`);
  if (matching.length > 0) return 0;
  process.stderr.write(
    `parley: ${text === undefined ? "No rules are" : `${sanitizeLine(text)} is not`} stored for this project. See parley permissions list.\n`,
  );
  return 1;
};

const actions: { readonly [name: string]: PermissionsAction } = {
  list,
  add,
  remove,
  import: async (args, context) => (await import("./import.ts")).importPermissions(args, context),
};

const requireRule = ({ positionals: [action = "", rule] }: Arguments): string => {
  if (rule === undefined) throw usageError(`Missing argument RULE: parley permissions ${action} RULE.`);
  return rule.trim();
};

/** Allow rules of a person do not count in an untrusted folder. */
const noteUntrusted = (trusted: boolean, hasAllowRules: boolean): void => {
  if (trusted || !hasAllowRules) return;
  process.stderr.write(
    "parley: This folder is not trusted, so allow rules do not apply. Trust it with parley trust.\n",
  );
};
