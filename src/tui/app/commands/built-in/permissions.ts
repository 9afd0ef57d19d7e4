import {
  describeRuleMatch,
  describeRuleSource,
  hasRuleText,
  type ListedRule,
} from "../../../../policy/gate/listed-rules.ts";
import { formatPermissionRule, parsePermissionRule } from "../../../../policy/gate/permission-rules.ts";
import { suggestRuleSyntax } from "../../../../settings/schema/check.ts";
import type { SlashCommandContext } from "../slash-command.ts";

/** `/permissions`: shows the permission rules, and adds or takes back those of the session and the project. */
export const managePermissions = async (words: string, at: SlashCommandContext): Promise<void> => {
  const [action = "", ...rest] = words.trim().split(/\s+/);
  const text = rest.join(" ");
  switch (action) {
    case "":
      return showRules(at);
    case "allow":
    case "ask":
    case "deny":
      return addRule(action, text, at);
    case "remove":
      return removeByText(text, at);
  }
  at.warn(`Unknown action "${action}". Use /permissions, /permissions allow RULE, ask RULE, deny RULE or remove RULE.`);
};

const showRules = async (at: SlashCommandContext): Promise<void> => {
  const { gate } = await at.opened().services();
  const rules = await gate.listRules();
  const own = rules.filter(isRemovable);
  if (rules.length === 0)
    return at.info(
      `No permission rules. Approval mode: ${gate.mode()}. Answer an approval with "don't ask again", or add one with /permissions allow RULE.`,
    );
  await at.printMarkdown(
    [
      `**Permission rules** (approval mode: ${gate.mode()})`,
      "",
      ...rules.map((each) => `- ${each.list} \`${ruleText(each)}\` (${describeRuleSource(each)})`),
    ].join("\n"),
  );
  if (own.length === 0) return;
  const picked = await at.pick("Take back a rule? (Esc to keep all)", [
    { id: "keep", label: "Keep all" },
    ...own.map((each, index) => ({
      id: String(index),
      label: `${each.list} ${ruleText(each)}`,
      detail: describeRuleSource(each),
    })),
  ]);
  const rule = own[Number(picked?.id)];
  if (rule !== undefined) await removeRules([rule], at);
};

const isRemovable = ({ scope }: ListedRule): boolean => scope === "session" || scope === "project";

const ruleText = ({ rule }: ListedRule): string =>
  [formatPermissionRule(rule), describeRuleMatch(rule)].filter((text) => text !== "").join(", ");

type ListTexts = { readonly [list in ListedRule["list"]]: string };
const questions: ListTexts = { allow: "Allow", ask: "Always ask about", deny: "Deny" };
const answers: ListTexts = { allow: "Allowed", ask: "Always asked about", deny: "Denied" };

const addRule = async (list: ListedRule["list"], text: string, at: SlashCommandContext): Promise<void> => {
  const rule = parsePermissionRule(text);
  if (rule === undefined) return at.warn(`Unknown rule "${text}". ${suggestRuleSyntax(text)}`);
  const scope = await at.pick(`${questions[list]} ${formatPermissionRule(rule)}`, [
    { id: "session", label: "This session" },
    ...(at.loaded().policy.trusted || list !== "allow"
      ? [{ id: "project", label: "This project", detail: "also in later sessions; stored with your own settings" }]
      : []),
  ]);
  if (scope === undefined) return;
  const { gate } = await at.opened().services();
  await gate.addRule(rule, { list, scope: scope.id === "project" ? "project" : "session" });
  await at.opened().agent.reevaluateApprovals();
  at.info(
    `${answers[list]} ${scope.id === "project" ? "in this project" : "this session"}: ${formatPermissionRule(rule)}.`,
  );
};

const removeByText = async (text: string, at: SlashCommandContext): Promise<void> => {
  const rules = await (await at.opened().services()).gate.listRules();
  const named = rules.filter((each) => hasRuleText(each, text));
  const own = named.filter(isRemovable);
  if (own.length > 0) return removeRules(own, at);
  at.warn(
    named[0] === undefined
      ? `No rule "${text}". See /permissions.`
      : `${text} comes from ${describeRuleSource(named[0])}; ${named[0].scope === "plugin" ? "it holds while the plugin is enabled" : "change it there"}.`,
  );
};

const removeRules = async (rules: readonly ListedRule[], at: SlashCommandContext): Promise<void> => {
  const { gate } = await at.opened().services();
  for (const rule of rules)
    if (await gate.removeRule(rule)) at.info(`Removed: ${rule.list} ${ruleText(rule)} (${describeRuleSource(rule)}).`);
};
