import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "../../conversation/json.ts";
import { readSessionRule, type SessionRule, type SessionRuleChange } from "../../policy/gate/session-rules.ts";
import type { ConsentRecord } from "../../session/log/record.ts";
import type { Session } from "../../session/session.ts";
import type { ResolvedAgentOptions } from "../options.ts";
import type { Journal } from "./journal.ts";

/** The permission rules of a session that hold again, and messages about them. */
export type RestoredConsents = { readonly rules: readonly SessionRule[]; readonly notes: readonly string[] };

type ConsentOptions = Pick<ResolvedAgentOptions, "world" | "home" | "folder" | "loaded">;

/**
 * Restores the permission rules the person added in earlier runs of a session. One that allows more holds only in a
 * trusted folder, the same as then, if the seals of all are valid and the log has no damage; one that restricts always
 * holds.
 */
export const restoreConsents = async (
  { world, home, folder, loaded }: ConsentOptions,
  { id, consents = [], damage }: Pick<Session, "id" | "consents" | "damage">,
): Promise<RestoredConsents> => {
  const key = (await world.files.read(keyPath(home.config)).catch(() => undefined)) ?? "";
  const isSealed = (record: ConsentRecord, at: number): boolean =>
    record.number === at + 1 && hasValidSeal(key, id, record);
  const mayWiden = loaded.policy.trusted && damage.length === 0 && key.length >= keyLength && consents.every(isSealed);
  const rules: SessionRule[] = [];
  let left = 0;
  for (const { change, list, rule: given, folder: place } of consents) {
    const rule = readSessionRule(given ?? {});
    const isWidening = (list === "allow") === (change === "add");
    if (rule === undefined || (isWidening && !(mayWiden && place === folder))) {
      if (isWidening) left += 1;
      continue;
    }
    const known = rules.findIndex((each) => isDeepStrictEqual(each, { list, rule }));
    if (change === "add" && known < 0) rules.push({ list, rule });
    if (change === "remove" && known >= 0) rules.splice(known, 1);
  }
  return { rules, notes: [...describeRestored(rules.length), ...describeLeft(left, loaded.policy.trusted)] };
};

const describeRestored = (count: number): readonly string[] => {
  if (count === 0) return [];
  const what =
    count === 1 ? "1 permission rule of this session holds" : `${count} permission rules of this session hold`;
  return [`${what} again. /permissions shows and removes them.`];
};

const describeLeft = (count: number, isTrusted: boolean): readonly string[] => {
  if (count === 0) return [];
  const why = isTrusted
    ? "its log is damaged, changed, or from another machine or folder"
    : "the folder is not trusted";
  return [`You are asked again about what you allowed in this session earlier: ${why}.`];
};

/** Records a change of the rules of a session in its log. Resolves once a removal is on disk. */
export const recordConsent = async (
  { world, home, folder }: ConsentOptions,
  { session, journal }: { readonly session: Pick<Session, "id">; readonly journal: Journal },
  { change, list, rule }: SessionRuleChange,
): Promise<void> => {
  const key = await loadKey(world, home.config);
  const record = { number: journal.consentCount + 1, change, list, rule: rule as unknown as JsonObject, folder };
  journal.appendMetadata({ kind: "consent", ...record, seal: createSeal(key, session.id, record) });
  const committed = journal.commit();
  if (change === "remove") await committed;
  // The next commit writes an addition that failed now.
  else committed.catch(() => undefined);
};

/** Loads the key of the seals, and creates it at first. It never leaves this machine. */
const loadKey = async ({ files }: ConsentOptions["world"], home: string): Promise<string> => {
  const known = await files.read(keyPath(home));
  if (known !== undefined && known.length >= keyLength) return known;
  await files.writePrivate(keyPath(home), randomBytes(keyLength / 2).toString("hex"));
  return (await files.read(keyPath(home))) ?? "";
};

const keyPath = (home: string): string => `${home}/session-consents.key`;
const keyLength = 64;

type SealedFields = Omit<ConsentRecord, "kind" | "seal">;

const createSeal = (key: string, id: string, { number, change, list, rule, folder }: SealedFields): string =>
  createHmac("sha256", key)
    .update(JSON.stringify(["session consent", id, number, change, list, rule, folder]))
    .digest("hex");

const hasValidSeal = (key: string, id: string, record: ConsentRecord): boolean => {
  const [expected, given] = [createSeal(key, id, record), String(record.seal)];
  return expected.length === given.length && timingSafeEqual(Buffer.from(expected), Buffer.from(given));
};
