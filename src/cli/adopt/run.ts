import { loadAgentEnvironment, type AgentEnvironment } from "../../agent/environment.ts";
import {
  adoptableAgents,
  assetKinds,
  findAssets,
  type AdoptableAgent,
  type AgentAsset,
  type AssetKind,
} from "../../extensions/adopt/assets.ts";
import { takeOver, undoAdoption, type Adoption } from "../../extensions/adopt/take-over.ts";
import { openAgentFiles } from "../../extensions/agent-files.ts";
import { describeChange, type PermissionChange } from "../../extensions/permissions/import.ts";
import type { Arguments, CommandHandler } from "../command.ts";
import { canPrompt, confirm } from "../confirm.ts";
import { printJson } from "../format.ts";
import { withUserErrors } from "../sessions/context.ts";
import { alignColumns, sanitizeLine } from "../text-table.ts";
import { UserError, usageError } from "../user-error.ts";

/** `parley adopt`: lists what other agents have on this machine, and takes over what the person chooses. */
export const adopt: CommandHandler = async (args) => {
  const agents = chooseAgents(args.positionals[0]);
  const kinds = chooseKinds(args);
  return withUserErrors(async () => {
    const environment = await loadAgentEnvironment({ folder: "." });
    if (args.has("undo")) return undo(args, environment);
    const assets = await findAll(agents, environment);
    if (!args.has("json")) printAssets(assets, environment);
    const chosen = await chooseAssets(assets, kinds, args);
    const adoption = await planAdoption(chosen, args);
    if (!args.has("dry-run") && !isEmpty(adoption))
      await takeOver(adoption, {
        ...environment,
        home: environment.home.config,
        currentContextFileNames: environment.loaded.settings["context.fileName"],
      });
    return report(assets, adoption, args);
  });
};

const chooseAgents = (name: string | undefined): readonly AdoptableAgent[] => {
  const agent = adoptableAgents.find((each) => each === name);
  if (name === undefined) return adoptableAgents;
  if (agent === undefined) throw usageError(`Unknown agent "${name}". Available: ${adoptableAgents.join(", ")}.`);
  return [agent];
};

/** The kinds to choose without asking; undefined if the person chooses. */
const chooseKinds = (args: Arguments): readonly AssetKind[] | undefined => {
  if (args.has("all")) return assetKinds;
  const names = args
    .value("only")
    ?.split(",")
    .map((name) => name.trim());
  const unknown = names?.find((name) => !assetKinds.some((kind) => kind === name));
  if (unknown !== undefined)
    throw usageError(`Unknown kind "${unknown}" for --only. Available: ${assetKinds.join(", ")}.`);
  return names === undefined ? undefined : assetKinds.filter((kind) => names.includes(kind));
};

const findAll = async (
  agents: readonly AdoptableAgent[],
  { world, home, folder, loaded }: AgentEnvironment,
): Promise<readonly AgentAsset[]> => {
  const locations = {
    files: openAgentFiles(world.disk),
    env: world.env,
    userHome: world.host.home,
    ...(loaded.policy.trusted ? { project: folder } : {}),
    target: { world, home: home.config, folder },
    contextFileNames: loaded.settings["context.fileName"],
    serverNames: Object.keys(loaded.settings.mcpServers),
  };
  return (await Promise.all(agents.map((agent) => findAssets(agent, locations)))).flat();
};

const printAssets = (assets: readonly AgentAsset[], { loaded }: AgentEnvironment): void => {
  const rows = assets.map((asset, at) => [
    asset.state === "new" ? `${at + 1}` : "",
    asset.agent,
    asset.kind,
    asset.summary,
    asset.state === "read"
      ? `already read (${asset.note})`
      : asset.state === "listed"
        ? asset.note
        : "can be taken over",
    asset.path,
  ]);
  for (const row of alignColumns(rows)) process.stdout.write(`${sanitizeLine(row)}\n`);
  if (assets.length === 0) process.stderr.write("parley: Nothing of other agents found.\n");
  if (!loaded.policy.trusted)
    process.stderr.write("parley: This folder is not trusted, so only your home was looked at. See parley trust.\n");
};

/** Chooses by kind, or asks the person for each asset. Without a terminal nothing is chosen. */
const chooseAssets = async (
  assets: readonly AgentAsset[],
  kinds: readonly AssetKind[] | undefined,
  args: Arguments,
): Promise<readonly AgentAsset[]> => {
  const offered = assets.filter(({ state }) => state === "new");
  if (kinds !== undefined) return offered.filter(({ kind }) => kinds.includes(kind));
  if (args.has("json") || args.has("dry-run")) return args.has("dry-run") ? offered : [];
  if (!canPrompt()) {
    if (offered.length > 0)
      process.stderr.write("parley: Choose with --all or --only KIND,... or run in a terminal.\n");
    return [];
  }
  const chosen: AgentAsset[] = [];
  for (const asset of offered)
    if (await confirm(sanitizeLine(`Take over ${asset.agent} ${asset.kind}: ${asset.summary}?`))) chosen.push(asset);
  return chosen;
};

const planAdoption = async (chosen: readonly AgentAsset[], args: Arguments): Promise<Adoption> => {
  const changes = chosen.flatMap((asset) => (asset.state === "new" ? [asset.change] : []));
  const permissions: PermissionChange[] = [];
  const asks = !args.has("json") && !args.has("dry-run") && canPrompt();
  for (const change of changes.flatMap((each) => (each.type === "permissions" ? each.plan.changes : [])))
    if (
      change.isTightening ||
      args.has("yes") ||
      (asks && (await confirm(sanitizeLine(`${describeChange(change)} (from ${change.file}): allow this?`))))
    )
      permissions.push(change);
  const servers = changes.flatMap((each) => (each.type === "server" ? [each.server] : []));
  return {
    permissions,
    servers: [...new Map(servers.map((server) => [server.name, server])).values()],
    contextFileNames: [...new Set(changes.flatMap((each) => (each.type === "context" ? [each.fileName] : [])))],
  };
};

const isEmpty = ({ permissions, servers, contextFileNames }: Adoption): boolean =>
  permissions.length + servers.length + contextFileNames.length === 0;

const report = (assets: readonly AgentAsset[], adoption: Adoption, args: Arguments): number => {
  const { permissions, servers, contextFileNames } = adoption;
  const lines = [
    ...permissions.map(describeChange),
    ...servers.map(({ name }) => `MCP server ${name}`),
    ...contextFileNames.map((name) => `context file name ${name}`),
  ];
  const variables = [...new Set(servers.flatMap((server) => server.variables))];
  if (args.has("json"))
    return printJson({
      found: assets.map(({ agent, kind, path, summary, state }) => ({ agent, kind, path, summary, state })),
      [args.has("dry-run") ? "wouldTakeOver" : "tookOver"]: lines,
      variables,
    });
  for (const line of lines)
    process.stdout.write(`${args.has("dry-run") ? "would take over" : "took over"} ${sanitizeLine(line)}\n`);
  if (variables.length > 0)
    process.stderr.write(
      `parley: Values of variables were not copied. Set these in your environment: ${sanitizeLine(variables.join(", "))}.\n`,
    );
  if (lines.length > 0 && !args.has("dry-run"))
    process.stderr.write("parley: Reverse this with parley adopt --undo.\n");
  return 0;
};

const undo = async (args: Arguments, environment: AgentEnvironment): Promise<number> => {
  const outcome = await undoAdoption({ ...environment, home: environment.home.config });
  if (outcome === "nothing") throw new UserError("There is no adoption to reverse.", { code: 1 });
  if (outcome === "changed")
    throw new UserError(
      "Settings or rules changed since the adoption, so nothing was reversed. The settings before it are in adopt/last.json of Parley's home folder.",
      { code: 1 },
    );
  if (args.has("json")) return printJson({ undone: true });
  process.stdout.write("Reversed the last adoption.\n");
  return 0;
};
