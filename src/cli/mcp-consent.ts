import { agreed, canAsk } from "./agreeing.ts";
import { Failure } from "./failure.ts";
import type { Known, KnownServer, ProjectServer } from "./mcp-known.ts";
import { serverLines, shownName, standingWords } from "./mcp-shown.ts";

/** Shows all that a server of the project would be started with, and asks whether it may be. */
export const allowServer = async (known: Known, name: string, isSure: boolean): Promise<number> => {
  const found = projectServersNamed(known, name);
  const isAgreed = ({ standing }: ProjectServer): boolean => standing.state === "agreed";
  if (found.some(isAgreed)) {
    process.stderr.write(`You agreed to ${shownName(name)} before.\n`);
    return 0;
  }
  const [wanted] = found.filter(({ standing }) => standing.state === "asks" || standing.state === "denied");
  if (wanted === undefined) throw new Failure(`${shownName(name)} is ${wordsOf(found)}.`, { code: 1 });
  process.stderr.write(
    `${[`${shownName(name)}, ${wanted.file}:`, ...serverLines(wanted), ...secretLines(wanted)].join("\n")}\n`,
  );
  if (!isSure && !canAsk())
    throw new Failure("There is nobody to ask. --yes agrees to what is shown above.", { code: 1 });
  if (!isSure && !(await agreed("Start it here from now on?")))
    throw new Failure("Nothing was agreed to.", { code: 1 });
  await known.consents.agree(known.root, wanted.consent);
  process.stderr.write(`Agreed to ${shownName(name)}, as it is written now. You are asked again when it changes.\n`);
  return 0;
};

/** Takes back what was agreed to, and does not have it asked about again as it is now. */
export const denyServer = async (known: Known, name: string): Promise<number> => {
  const found = known.servers.filter((each) => each.from === "project" && each.name === name) as ProjectServer[];
  const wasAgreed = await known.consents.withdraw(known.root, `mcpServers.${name}`);
  if (found.length === 0 && !wasAgreed) projectServersNamed(known, name);
  for (const { consent } of found) await known.consents.decline(known.root, consent);
  process.stderr.write(
    wasAgreed
      ? `${shownName(name)} of this project is started no longer; what runs now ends with its session.\n`
      : `${shownName(name)} of this project is not started, and not asked about.\n`,
  );
  return 0;
};

const secretLines = ({ consent: { secrets = [] } }: ProjectServer): readonly string[] =>
  secrets.map((name) => `  It would be given your secret ${name}, which is in the environment.`);

const projectServersNamed = ({ servers }: Known, name: string): readonly ProjectServer[] => {
  const named = servers.filter((each) => each.name === name);
  const found = named.filter((each): each is ProjectServer => each.from === "project");
  if (found.length > 0) return found;
  if (named.length > 0)
    throw new Failure(`${shownName(name)} is in your own settings: it needs nobody's word.`, { code: 1 });
  throw new Failure(`This project has no server ${shownName(name)}.${othersIn(servers)}`, { code: 1 });
};

const othersIn = (servers: readonly KnownServer[]): string => {
  const names = servers.flatMap(({ from, name }) => (from === "project" ? [shownName(name)] : []));
  return names.length === 0 ? "" : ` It has ${[...new Set(names)].join(", ")}.`;
};

const wordsOf = (found: readonly ProjectServer[]): string => found.map(standingWords).join("; ");
