import { confirm, canPrompt } from "../confirm.ts";
import { UserError } from "../user-error.ts";
import type { ServerContext, ConfiguredServer, ProjectServer } from "./configured-servers.ts";
import { formatConfiguration, sanitizeName, describeConsentState } from "./describe.ts";

/** Shows the full configuration of a project's server and asks whether it may be started. */
export const allowServer = async (known: ServerContext, name: string, isSure: boolean): Promise<number> => {
  const found = projectServersNamed(known, name);
  const isAllowed = ({ standing }: ProjectServer): boolean => standing.state === "allowed";
  if (found.some(isAllowed)) {
    process.stderr.write(`${sanitizeName(name)} is already allowed.\n`);
    return 0;
  }
  const [wanted] = found.filter(({ standing }) => standing.state === "pending" || standing.state === "denied");
  if (wanted === undefined) throw new UserError(`${sanitizeName(name)} is ${describeStates(found)}.`, { code: 1 });
  process.stderr.write(
    `${[`${sanitizeName(name)}, ${wanted.file}:`, ...formatConfiguration(wanted), ...secretLines(wanted)].join("\n")}\n`,
  );
  if (!isSure && !canPrompt())
    throw new UserError("Cannot ask without a terminal. Use --yes to allow what is shown above.", { code: 1 });
  if (!isSure && !(await confirm("Allow this server in this folder?")))
    throw new UserError("Not allowed.", { code: 1 });
  await known.consents.agree(known.root, wanted.consent);
  process.stderr.write(`Allowed ${sanitizeName(name)} with this configuration. You are asked again when it changes.\n`);
  return 0;
};

/** Denies a project's server, withdrawing an earlier consent. It is not asked about again until it changes. */
export const denyServer = async (known: ServerContext, name: string): Promise<number> => {
  const found = known.servers.filter((each) => each.from === "project" && each.name === name) as ProjectServer[];
  const wasAllowed = await known.consents.withdraw(known.root, `mcpServers.${name}`);
  if (found.length === 0 && !wasAllowed) projectServersNamed(known, name);
  for (const { consent } of found) await known.consents.decline(known.root, consent);
  process.stderr.write(
    wasAllowed
      ? `Denied ${sanitizeName(name)} of this project. A running instance stops with its session.\n`
      : `Denied ${sanitizeName(name)} of this project. You are not asked again until it changes.\n`,
  );
  return 0;
};

const secretLines = ({ consent: { secrets = [] } }: ProjectServer): readonly string[] =>
  secrets.map((name) => `  It gets your secret ${name} from the environment.`);

const projectServersNamed = ({ servers }: ServerContext, name: string): readonly ProjectServer[] => {
  const named = servers.filter((each) => each.name === name);
  const found = named.filter((each): each is ProjectServer => each.from === "project");
  if (found.length > 0) return found;
  if (named.length > 0)
    throw new UserError(`${sanitizeName(name)} is in your own settings, so it needs no consent.`, { code: 1 });
  throw new UserError(`Unknown server ${sanitizeName(name)} of this project.${describeOthers(servers)}`, { code: 1 });
};

const describeOthers = (servers: readonly ConfiguredServer[]): string => {
  const names = servers.flatMap(({ from, name }) => (from === "project" ? [sanitizeName(name)] : []));
  return names.length === 0 ? "" : ` Available: ${[...new Set(names)].join(", ")}.`;
};

const describeStates = (found: readonly ProjectServer[]): string => found.map(describeConsentState).join("; ");
