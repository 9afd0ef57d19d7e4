import { join } from "node:path";
import { describeDamage, type SessionDamage } from "../../session/repair/damage.ts";
import type { SessionLocation } from "../../session/store/locate.ts";
import { sessionIdFrom, printJson } from "../format.ts";
import { locateSession, type SessionsContext, type SessionAction } from "./context.ts";
import { withProgress } from "../progress.ts";

/** `parley sessions repair`: reports damage of a session and repairs it. Unreadable bytes are saved, not lost. */
export const repairSession: SessionAction = async (context, args) => {
  const place = await locateSession(context, sessionIdFrom(args));
  const isDryRun = args.has("dry-run");
  const before = await listDamagedFiles(context, place);
  const findings = await withProgress("Checking the session", () =>
    isDryRun ? context.sessions.examine(place.id) : context.sessions.repair(place.id),
  );
  const savedFiles = (await listDamagedFiles(context, place)).filter((path) => !before.includes(path));
  if (args.has("json"))
    return printJson({ id: place.id, dryRun: isDryRun, findings: findings.map(withMessage), savedFiles });
  process.stdout.write(
    describeRepair(place, { findings, savedFiles, isDryRun })
      .map((line) => `${line}\n`)
      .join(""),
  );
  return 0;
};

type RepairSummary = {
  readonly findings: readonly SessionDamage[];
  readonly savedFiles: readonly string[];
  readonly isDryRun: boolean;
};

const describeRepair = (
  { path, id }: SessionLocation,
  { findings, savedFiles, isDryRun }: RepairSummary,
): readonly string[] => {
  if (findings.length === 0) return [`Session ${id} is not damaged.`];
  const found = [`Session ${id}:`, ...findings.map((finding) => `  ${describeDamage(finding)}`)];
  const file = join(path, `${id}.jsonl`);
  if (!findings.some(isRepairable)) return [...found, "This cannot be repaired."];
  if (isDryRun) return [...found, `A repair would rewrite ${file} and save unreadable bytes to a file beside it.`];
  const saved = savedFiles.map((savedFile) => `Saved the unreadable bytes to ${savedFile}.`);
  return [...found, `Repaired ${file}.`, ...(saved.length > 0 ? saved : ["All bytes were readable."])];
};

/** Whether a repair can fix a finding. Missing blobs cannot be restored. */
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
