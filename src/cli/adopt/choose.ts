import type { AgentAsset, AssetKind } from "../../extensions/adopt/assets.ts";
import type { Adoption } from "../../extensions/adopt/take-over.ts";
import type { FoundPlugin } from "../../extensions/adopt/plugins.ts";
import { addHooks } from "../../extensions/hooks/import-hooks.ts";
import { describeChange, type PermissionChange } from "../../extensions/permissions/import.ts";
import type { AgreedPlugin } from "../../extensions/plugins/install.ts";
import { describeCapabilities } from "../../extensions/plugins/describe.ts";
import type { ForeignSession } from "../../foreign/list.ts";
import { askChecklist } from "../checklist.ts";
import type { Arguments } from "../command.ts";
import { canPrompt, confirm } from "../confirm.ts";
import { agreeToPlugin } from "../plugins/agree.ts";
import { alignColumns, sanitizeLine } from "../text-table.ts";
import { UserError, usageError } from "../user-error.ts";
import type { SessionsItem } from "./sessions.ts";

/** A line of the list: something that was found. */
export type AdoptionItem = AgentAsset | SessionsItem;

/** The changes of an adoption, and parts of chosen items that are not taken over, with the reason. */
export type AdoptionPlan = {
  readonly adoption: Adoption;
  readonly sessions: readonly ForeignSession[];
  readonly leftOut: readonly string[];
};

/** Prints the list. Items that can be taken over have a number. */
export const printItems = (items: readonly AdoptionItem[]): void => {
  for (const row of formatItems(items)) process.stdout.write(`${sanitizeLine(row)}\n`);
  if (items.length === 0) process.stderr.write("parley: Nothing of other agents found.\n");
};

const formatItems = (items: readonly AdoptionItem[]): readonly string[] =>
  alignColumns(
    items.map((item, at) => [item.state === "new" ? `${at + 1}` : "", ...describeItem(item)].map(sanitizeLine)),
  );

const describeItem = (item: AdoptionItem): readonly string[] => [
  item.agent,
  item.kind,
  item.summary,
  item.state === "read" ? `already read (${item.note})` : item.state === "listed" ? item.note : "can be taken over",
  item.path,
];

/** Chooses items by kind or number, or asks with one list to tick. Without a terminal nothing is chosen. */
export const chooseItems = async (
  items: readonly AdoptionItem[],
  kinds: readonly AssetKind[] | undefined,
  args: Arguments,
  print: () => void,
): Promise<readonly AdoptionItem[]> => {
  const offered = items.filter(({ state }) => state === "new");
  const numbers = args.value("pick");
  const asks = kinds === undefined && numbers === undefined && !args.has("json") && !args.has("dry-run") && canPrompt();
  if (!asks || offered.length === 0) print();
  if (kinds !== undefined) return offered.filter(({ kind }) => kinds.includes(kind));
  if (numbers !== undefined) return pickNumbers(items, numbers);
  if (args.has("json") || args.has("dry-run")) return args.has("dry-run") ? offered : [];
  if (offered.length === 0) return [];
  if (!asks) {
    process.stderr.write("parley: Choose with --all, --only KIND,... or --pick N,..., or run in a terminal.\n");
    return [];
  }
  const rows = alignColumns(items.map((item) => describeItem(item).map(sanitizeLine)));
  const ticked = await askChecklist(
    items.map((item, at) => ({
      text: rows[at] ?? "",
      ...(item.state === "new" ? { isTicked: isTickedAtFirst(item) } : {}),
    })),
  );
  if (ticked === undefined) throw new UserError("Nothing was changed.", { code: 1 });
  return ticked.flatMap((at) => items[at] ?? []);
};

/** Hooks and plugins run programs, and sessions of other folders may be many: the person ticks them. */
const isTickedAtFirst = (item: AdoptionItem): boolean =>
  item.kind !== "hooks" && item.kind !== "plugins" && !(item.kind === "sessions" && "isHere" in item && !item.isHere);

const pickNumbers = (items: readonly AdoptionItem[], numbers: string): readonly AdoptionItem[] =>
  numbers.split(",").map((text) => {
    const item = items[Number(text.trim()) - 1];
    if (!/^\d{1,4}$/.test(text.trim()) || item?.state !== "new")
      throw usageError(`--pick: ${text.trim()} is not the number of something that can be taken over.`);
    return item;
  });

/** Plans the adoption of chosen items. Hooks, plugins, and rules that allow more need a second agreement or `--yes`. */
export const planAdoption = async (chosen: readonly AdoptionItem[], args: Arguments): Promise<AdoptionPlan> => {
  const changes = chosen.flatMap((item) => (item.state === "new" && "change" in item ? [item.change] : []));
  const leftOut: string[] = [];
  const rules = changes.flatMap((each) => (each.type === "permissions" ? each.plan.changes : []));
  const permissions = await agreeToRules(rules, args, leftOut);
  const found = changes.filter((each) => each.type === "hooks");
  const hooks = (await agreeToHooks(found, args, leftOut)) ? found.map((each) => each.hooks).reduce(addHooks, {}) : {};
  const plugins = await agreeToPlugins(
    changes.flatMap((each) => (each.type === "plugin" ? [each.found] : [])),
    args,
    leftOut,
  );
  const servers = changes.flatMap((each) => (each.type === "server" ? [each.server] : []));
  return {
    adoption: {
      permissions,
      servers: [...new Map(servers.map((server) => [server.name, server])).values()],
      contextFileNames: [...new Set(changes.flatMap((each) => (each.type === "context" ? [each.fileName] : [])))],
      hooks,
      copies: changes.flatMap((each) => (each.type === "copy" ? [each.copy] : [])),
      plugins,
    },
    sessions: chosen.flatMap((item) => (item.state === "new" && "sessions" in item ? item.sessions : [])),
    leftOut,
  };
};

/** Whether a second question can be asked. A dry run shows what could be taken over. */
const canAsk = (args: Arguments): boolean => !args.has("json") && canPrompt();

const agreeToRules = async (
  rules: readonly PermissionChange[],
  args: Arguments,
  leftOut: string[],
): Promise<readonly PermissionChange[]> => {
  const widening = rules.filter(({ isTightening }) => !isTightening);
  if (widening.length === 0 || args.has("yes")) return rules;
  const agreed: PermissionChange[] = [];
  if (!args.has("dry-run") && canAsk(args)) {
    process.stderr.write("These rules allow more. Tick those you agree to:\n");
    const texts = widening.map((rule) => `${describeChange(rule)} (from ${rule.file})`);
    const ticked = await askChecklist(texts.map((text) => ({ text, isTicked: false })));
    agreed.push(...(ticked ?? []).flatMap((at) => widening[at] ?? []));
  } else leftOut.push(...widening.map((rule) => `${describeChange(rule)}: it allows more, so it needs --yes`));
  return rules.filter((rule) => rule.isTightening || agreed.includes(rule));
};

/** Shows hooks in full and asks, as `parley hooks import` does. */
const agreeToHooks = async (
  found: readonly { readonly lines: readonly string[] }[],
  args: Arguments,
  leftOut: string[],
): Promise<boolean> => {
  const lines = found.flatMap((each) => each.lines);
  if (lines.length === 0) return false;
  if (!args.has("json")) for (const line of lines) process.stderr.write(`${sanitizeLine(line)}\n`);
  if (args.has("yes") || args.has("dry-run")) return true;
  if (!canAsk(args)) {
    leftOut.push("hooks: they run programs, so they need --yes");
    return false;
  }
  return confirm("Add these hooks to your settings? They run in every folder.");
};

/** Shows what each plugin brings and asks about each kind, as `parley plugins add` does. */
const agreeToPlugins = async (
  found: readonly FoundPlugin[],
  args: Arguments,
  leftOut: string[],
): Promise<readonly AgreedPlugin[]> => {
  const plugins: AgreedPlugin[] = [];
  for (const each of found) {
    const { name } = each.plugin;
    const hasKinds = describeCapabilities(each.plugin).length > 0;
    if (args.has("dry-run")) plugins.push({ ...each, agreed: [] });
    else if (hasKinds && !args.has("yes") && !canAsk(args))
      leftOut.push(`plugin ${name}: what it brings must be agreed to, so it needs --yes`);
    else
      try {
        plugins.push({ ...each, agreed: await agreeToPlugin({ args }, each.plugin, []) });
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        leftOut.push(`plugin ${name}: ${error.message}`);
      }
  }
  return plugins;
};
