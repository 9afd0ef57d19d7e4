import { confirm, canPrompt } from "../confirm.ts";
import { UserError } from "../user-error.ts";
import type { ServerContext, ConfiguredServer, ProjectServer } from "./configured-servers.ts";
import { formatConfiguration, sanitizeName, describeConsentState } from "./describe.ts";

/** Shows the full configuration of a project's server and asks whether it may be started. */
export const allowServer = async (context: ServerContext, name: string, skipsQuestion: boolean): Promise<number> => {
  const matches = findProjectServers(context, name);
  const isAllowed = ({ consentState }: ProjectServer): boolean => consentState.state === "allowed";
  if (matches.some(isAllowed)) {
    process.stderr.write(`${sanitizeName(name)} is already allowed.\n`);
    return 0;
  }
  const [server] = matches.filter(({ consentState: { state } }) => state === "pending" || state === "denied");
  if (server === undefined) throw new UserError(`${sanitizeName(name)} is ${describeStates(matches)}.`, { code: 1 });
  process.stderr.write(
    `${[`${sanitizeName(name)}, ${server.file}:`, ...formatConfiguration(server), ...secretLines(server)].join("\n")}\n`,
  );
  if (!skipsQuestion && !canPrompt())
    throw new UserError("Cannot ask without a terminal. Use --yes to allow what is shown above.", { code: 1 });
  if (!skipsQuestion && !(await confirm("Allow this server in this folder?")))
    throw new UserError("Not allowed.", { code: 1 });
  await context.consents.agree(context.root, server.consent);
  process.stderr.write(`Allowed ${sanitizeName(name)} with this configuration. You are asked again when it changes.\n`);
  return 0;
};

/** Denies a project's server, withdrawing an earlier consent. It is not asked about again until it changes. */
export const denyServer = async (context: ServerContext, name: string): Promise<number> => {
  const matches = context.servers.filter(
    (server) => server.from === "project" && server.name === name,
  ) as ProjectServer[];
  const wasAllowed = await context.consents.withdraw(context.root, `mcpServers.${name}`);
  if (matches.length === 0 && !wasAllowed) findProjectServers(context, name);
  for (const { consent } of matches) await context.consents.decline(context.root, consent);
  process.stderr.write(
    wasAllowed
      ? `Denied ${sanitizeName(name)} of this project. A running instance stops with its session.\n`
      : `Denied ${sanitizeName(name)} of this project. You are not asked again until it changes.\n`,
  );
  return 0;
};

const secretLines = ({ consent: { secrets = [] } }: ProjectServer): readonly string[] =>
  secrets.map((name) => `  It gets your secret ${name} from the environment.`);

const findProjectServers = ({ servers }: ServerContext, name: string): readonly ProjectServer[] => {
  const sameName = servers.filter((server) => server.name === name);
  const matches = sameName.filter((server): server is ProjectServer => server.from === "project");
  if (matches.length > 0) return matches;
  if (sameName.length > 0)
    throw new UserError(`${sanitizeName(name)} is in your own settings, so it needs no consent.`, { code: 1 });
  throw new UserError(`Unknown server ${sanitizeName(name)} of this project.${describeOthers(servers)}`, { code: 1 });
};

const describeOthers = (servers: readonly ConfiguredServer[]): string => {
  const names = servers.flatMap(({ from, name }) => (from === "project" ? [sanitizeName(name)] : []));
  return names.length === 0 ? "" : ` Available: ${[...new Set(names)].join(", ")}.`;
};

const describeStates = (servers: readonly ProjectServer[]): string => servers.map(describeConsentState).join("; ");
