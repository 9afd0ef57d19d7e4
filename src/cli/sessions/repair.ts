import { join } from "node:path";
import { describeDamage, type SessionDamage } from "../../session/repair/damage.ts";
import type { SessionLocation } from "../../session/store/locate.ts";
import { locateSession, type SessionsContext } from "./context.ts";
import { sessionIdFrom, printJson } from "../format.ts";
import type { SessionAction } from "./run.ts";

/** `parley sessions repair`: says what is wrong with a session, and puts it right. No byte of it is lost. */
export const repairSession: SessionAction = async (store, given) => {
  const place = await locateSession(store, sessionIdFrom(given));
  const isTrial = given.has("dry-run");
  const before = await listDamagedFiles(store, place);
  const findings = isTrial ? await store.sessions.examine(place.id) : await store.sessions.repair(place.id);
  const kept = (await listDamagedFiles(store, place)).filter((path) => !before.includes(path));
  if (given.has("json")) return printJson({ id: place.id, dryRun: isTrial, findings: findings.map(withMessage), kept });
  process.stdout.write(
    describeRepair(place, { findings, kept, isTrial })
      .map((line) => `${line}\n`)
      .join(""),
  );
  return 0;
};

type RepairSummary = {
  readonly findings: readonly SessionDamage[];
  readonly kept: readonly string[];
  readonly isTrial: boolean;
};

const describeRepair = (
  { path, id }: SessionLocation,
  { findings, kept, isTrial }: RepairSummary,
): readonly string[] => {
  if (findings.length === 0) return [`Session ${id} is whole.`];
  const found = [`Session ${id}:`, ...findings.map((finding) => `  ${describeDamage(finding)}`)];
  const file = join(path, `${id}.jsonl`);
  if (!findings.some(isRepairable)) return [...found, "Nothing of that can be mended."];
  if (isTrial)
    return [...found, `A repair would make ${file} whole, and keep what cannot be read in a file beside it.`];
  const aside = kept.map((each) => `What could not be read is kept in ${each}.`);
  return [...found, `${file} is whole again.`, ...(aside.length > 0 ? aside : ["Every byte of it could be read."])];
};

/** Bytes of media that are gone do not come back. */
const isRepairable = ({ kind }: SessionDamage): boolean => kind !== "missing-blob";

const withMessage = (finding: SessionDamage): object => ({ ...finding, message: describeDamage(finding) });

const listDamagedFiles = async (
  { world: { disk } }: SessionsContext,
  { path, id }: SessionLocation,
): Promise<readonly string[]> => {
  const names = await disk.listNames((await disk.canonicalPath(path)) ?? path);
  return names
    .filter(({ name }) => name.startsWith(`${id}.jsonl.damaged-`))
    .map(({ name }) => join(path, name))
    .toSorted();
};
