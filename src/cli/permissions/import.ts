import { openAgentFiles } from "../../extensions/agent-files.ts";
import { findPermissions } from "../../extensions/permissions/find.ts";
import {
  applyPermissionChanges,
  describeChange,
  planPermissionImport,
  type PermissionChange,
  type PermissionImport,
} from "../../extensions/permissions/import.ts";
import { permissionSources, type PermissionSource } from "../../extensions/permissions/source-rules.ts";
import type { AgentEnvironment } from "../../agent/environment.ts";
import type { Arguments } from "../command.ts";
import { canPrompt, confirm } from "../confirm.ts";
import { printJson } from "../format.ts";
import { sanitizeLine } from "../text-table.ts";
import { usageError } from "../user-error.ts";

/**
 * `parley permissions import AGENT`: takes over the permission rules of another agent. What restricts is taken at once;
 * what allows more is asked about, rule by rule.
 */
export const importPermissions = async (
  args: Arguments,
  { world, home, folder, loaded }: AgentEnvironment,
): Promise<number> => {
  const source = requireSource(args.positionals[1]);
  const found = await findPermissions(source, {
    files: openAgentFiles(world.disk),
    env: world.env,
    userHome: world.host.home,
    ...(loaded.policy.trusted ? { project: folder } : {}),
  });
  const target = { world, home: home.config, folder };
  const plan = await planPermissionImport(found, target);
  const accepted = await chooseChanges(plan, args);
  await applyPermissionChanges(accepted, target);
  if (args.has("json")) return printJson(resultAsJson(plan, accepted));
  printResult(source, plan, accepted);
  if (!loaded.policy.trusted)
    process.stderr.write("parley: This folder is not trusted, so its own rules were not read. See parley trust.\n");
  return 0;
};

const requireSource = (name: string | undefined): PermissionSource => {
  const source = permissionSources.find((each) => each === name);
  if (source !== undefined) return source;
  throw usageError(
    name === undefined
      ? `Missing argument AGENT: parley permissions import ${permissionSources.join("|")}.`
      : `Unknown agent "${name}" for permissions import. Available: ${permissionSources.join(", ")}.`,
  );
};

const chooseChanges = async ({ changes }: PermissionImport, args: Arguments): Promise<readonly PermissionChange[]> => {
  const accepted: PermissionChange[] = [];
  const asks = !args.has("yes") && !args.has("json") && canPrompt();
  for (const change of changes) {
    const question = `${describeChange(change)} (${change.from}, from ${change.file}): allow this?`;
    if (change.isTightening || args.has("yes") || (asks && (await confirm(sanitizeLine(question)))))
      accepted.push(change);
  }
  return accepted;
};

const printResult = (source: string, plan: PermissionImport, accepted: readonly PermissionChange[]): void => {
  const line = (text: string): void => void process.stdout.write(`${sanitizeLine(text)}\n`);
  const { changes, present, untranslated } = plan;
  if (changes.length + present.length + untranslated.length === 0)
    process.stderr.write(`parley: No permission rules of ${source} found.\n`);
  for (const change of accepted)
    line(`added      ${describeChange(change)}${change.scope === "project" ? " (this project)" : ""}`);
  const refused = changes.filter((change) => !accepted.includes(change));
  for (const change of refused) line(`not added  ${describeChange(change)}, as it allows more`);
  for (const change of present) line(`present    ${describeChange(change)}`);
  for (const { from, reason } of untranslated) line(`left out   ${from}: ${reason}`);
  if (refused.length > 0 && !canPrompt())
    process.stderr.write("parley: Rules that allow more need your consent: run this in a terminal, or with --yes.\n");
};

const resultAsJson = (
  { changes, present, untranslated }: PermissionImport,
  accepted: readonly PermissionChange[],
): object => {
  const summarize = (change: PermissionChange): object => ({
    change: describeChange(change),
    from: change.from,
    file: change.file,
    scope: change.scope,
  });
  return {
    added: accepted.map(summarize),
    notAdded: changes.filter((change) => !accepted.includes(change)).map(summarize),
    present: present.map(summarize),
    leftOut: untranslated,
  };
};
