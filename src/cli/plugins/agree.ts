import { capabilityTitles, describeCapabilities } from "../../extensions/plugins/describe.ts";
import type { Plugin, PluginCapability } from "../../extensions/plugins/plugin.ts";
import { canPrompt, confirm } from "../confirm.ts";
import { sanitizeLine } from "../text-table.ts";
import { UserError } from "../user-error.ts";
import { formatReport } from "./report.ts";
import type { PluginsContext } from "./run.ts";

/**
 * Shows what a plugin brings and asks about each kind that is not agreed yet. Returns the agreed kinds. Throws if there
 * is no terminal to ask at, or nothing is agreed.
 */
export const agreeToPlugin = async (
  { args }: Pick<PluginsContext, "args">,
  plugin: Plugin,
  already: readonly PluginCapability[],
): Promise<readonly PluginCapability[]> => {
  const open = describeCapabilities(plugin).filter(({ kind }) => !already.includes(kind));
  if (open.length > 0 || already.length === 0)
    process.stderr.write(`${formatReport(plugin).map(sanitizeLine).join("\n")}\n`);
  if (open.length === 0) return already;
  if (args.has("yes")) return [...already, ...open.map(({ kind }) => kind)];
  if (!canPrompt())
    throw new UserError("Cannot ask without a terminal. Use --yes to agree to what is shown above.", { code: 1 });
  const agreed = [...already];
  for (const { kind, lines } of open)
    if (await confirm(`${capabilityTitles[kind]} (${lines.length}). Allow?`)) agreed.push(kind);
  if (agreed.length === 0) throw new UserError("Nothing was agreed to, so nothing was changed.", { code: 1 });
  return agreed;
};
