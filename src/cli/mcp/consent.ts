import { confirm, canPrompt } from "../confirm.ts";
import { UserError } from "../user-error.ts";
import type { ServerContext, ConfiguredServer, ProjectServer } from "./configured-servers.ts";
import { formatConfiguration, sanitizeName, describeConsentState } from "./describe.ts";

/** Shows all that a server of the project would be started with, and asks whether it may be. */
export const allowServer = async (known: ServerContext, name: string, isSure: boolean): Promise<number> => {
  const found = projectServersNamed(known, name);
  const isAgreed = ({ standing }: ProjectServer): boolean => standing.state === "agreed";
  if (found.some(isAgreed)) {
    process.stderr.write(`You agreed to ${sanitizeName(name)} before.\n`);
    return 0;
  }
  const [wanted] = found.filter(({ standing }) => standing.state === "asks" || standing.state === "denied");
  if (wanted === undefined) throw new UserError(`${sanitizeName(name)} is ${describeStates(found)}.`, { code: 1 });
  process.stderr.write(
    `${[`${sanitizeName(name)}, ${wanted.file}:`, ...formatConfiguration(wanted), ...secretLines(wanted)].join("\n")}\n`,
  );
  if (!isSure && !canPrompt())
    throw new UserError("There is nobody to ask. --yes agrees to what is shown above.", { code: 1 });
  if (!isSure && !(await confirm("Start it here from now on?")))
    throw new UserError("Nothing was agreed to.", { code: 1 });
  await known.consents.agree(known.root, wanted.consent);
  process.stderr.write(`Agreed to ${sanitizeName(name)}, as it is written now. You are asked again when it changes.\n`);
  return 0;
};

/** Takes back what was agreed to, and does not have it asked about again as it is now. */
export const denyServer = async (known: ServerContext, name: string): Promise<number> => {
  const found = known.servers.filter((each) => each.from === "project" && each.name === name) as ProjectServer[];
  const wasAgreed = await known.consents.withdraw(known.root, `mcpServers.${name}`);
  if (found.length === 0 && !wasAgreed) projectServersNamed(known, name);
  for (const { consent } of found) await known.consents.decline(known.root, consent);
  process.stderr.write(
    wasAgreed
      ? `${sanitizeName(name)} of this project is started no longer; what runs now ends with its session.\n`
      : `${sanitizeName(name)} of this project is not started, and not asked about.\n`,
  );
  return 0;
};

const secretLines = ({ consent: { secrets = [] } }: ProjectServer): readonly string[] =>
  secrets.map((name) => `  It would be given your secret ${name}, which is in the environment.`);

const projectServersNamed = ({ servers }: ServerContext, name: string): readonly ProjectServer[] => {
  const named = servers.filter((each) => each.name === name);
  const found = named.filter((each): each is ProjectServer => each.from === "project");
  if (found.length > 0) return found;
  if (named.length > 0)
    throw new UserError(`${sanitizeName(name)} is in your own settings: it needs nobody's word.`, { code: 1 });
  throw new UserError(`This project has no server ${sanitizeName(name)}.${describeOthers(servers)}`, { code: 1 });
};

const describeOthers = (servers: readonly ConfiguredServer[]): string => {
  const names = servers.flatMap(({ from, name }) => (from === "project" ? [sanitizeName(name)] : []));
  return names.length === 0 ? "" : ` It has ${[...new Set(names)].join(", ")}.`;
};

const describeStates = (found: readonly ProjectServer[]): string => found.map(describeConsentState).join("; ");
