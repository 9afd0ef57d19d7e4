import { join } from "node:path";
import { tellFinding, type Finding } from "../session/finding.ts";
import type { Place } from "../session/place.ts";
import { placeOf, type Store } from "./session-store.ts";
import { idAlone, printJson } from "./session-words.ts";
import type { SessionAction } from "./sessions.ts";

/** `parley sessions repair`: says what is wrong with a session, and puts it right. No byte of it is lost. */
export const repair: SessionAction = async (store, given) => {
  const place = await placeOf(store, idAlone(given));
  const isTrial = given.has("dry-run");
  const before = await keptAside(store, place);
  const findings = isTrial ? await store.sessions.examine(place.id) : await store.sessions.repair(place.id);
  const kept = (await keptAside(store, place)).filter((path) => !before.includes(path));
  if (given.has("json")) return printJson({ id: place.id, dryRun: isTrial, findings: findings.map(withWords), kept });
  process.stdout.write(
    wordsOf(place, { findings, kept, isTrial })
      .map((line) => `${line}\n`)
      .join(""),
  );
  return 0;
};

type Repaired = { readonly findings: readonly Finding[]; readonly kept: readonly string[]; readonly isTrial: boolean };

const wordsOf = ({ path, id }: Place, { findings, kept, isTrial }: Repaired): readonly string[] => {
  if (findings.length === 0) return [`Session ${id} is whole.`];
  const found = [`Session ${id}:`, ...findings.map((finding) => `  ${tellFinding(finding)}`)];
  const file = join(path, `${id}.jsonl`);
  if (!findings.some(isCurable)) return [...found, "Nothing of that can be mended."];
  if (isTrial)
    return [...found, `A repair would make ${file} whole, and keep what cannot be read in a file beside it.`];
  const aside = kept.map((each) => `What could not be read is kept in ${each}.`);
  return [...found, `${file} is whole again.`, ...(aside.length > 0 ? aside : ["Every byte of it could be read."])];
};

/** Bytes of media that are gone do not come back. */
const isCurable = ({ kind }: Finding): boolean => kind !== "missing-blob";

const withWords = (finding: Finding): object => ({ ...finding, message: tellFinding(finding) });

const keptAside = async ({ world: { disk } }: Store, { path, id }: Place): Promise<readonly string[]> => {
  const names = await disk.names((await disk.canonical(path)) ?? path);
  return names
    .filter(({ name }) => name.startsWith(`${id}.jsonl.damaged-`))
    .map(({ name }) => join(path, name))
    .toSorted();
};
