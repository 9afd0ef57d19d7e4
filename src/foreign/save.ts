import type { ImportedSource } from "../session/store/sources.ts";
import { listImportedSources } from "../session/store/sources.ts";
import { newSessionFromConversation } from "../session/store/create.ts";
import type { SessionStore } from "../session/store/store.ts";
import type { World } from "../world/world.ts";
import { otherBranches, type Omission } from "./builder.ts";
import type { ForeignSession } from "./list.ts";
import { importForeignSession, importOtherConversations, type OtherConversation } from "./import.ts";

/** Whether a foreign session was imported before: not at all, as it is now, or before it changed. */
export type ImportState = { readonly type: "new" } | { readonly type: "imported" | "changed"; readonly id: string };

/** Returns the state of a foreign session by its size and time, without reading it. */
export const importStateOf = (
  { agent, id, size, modified }: ForeignSession,
  imported: readonly ImportedSource[],
): ImportState => {
  const same = imported.filter(({ source }) => source.agent === agent && source.id === id);
  const [last] = same;
  if (last === undefined) return { type: "new" };
  const current = same.find(({ source }) => source.size === size && source.modified === modified);
  return current === undefined ? { type: "changed", id: last.id } : { type: "imported", id: current.id };
};

/** The sessions of Parley that imports go into. */
type SaveTarget = {
  readonly world: Pick<World, "disk">;
  /** Parley's home folder. */
  readonly home: string;
  readonly sessions: SessionStore;
  /** The folder a session belongs to if its own no longer exists. */
  readonly root: string;
};

/** The result of importing one foreign session. */
export type SavedImport = {
  readonly state: "imported" | "unchanged" | "changed" | "would-import";
  /** The session of ours; undefined if none was created. */
  readonly id?: string;
  readonly entries: number;
  readonly leftOut: readonly Omission[];
  /** The folder the session belongs to, and the recorded one if that no longer exists. */
  readonly root: string;
  readonly missingFolder?: string;
  /** Other branches and subagents' conversations, as sessions of their own. Without an id, they would be imported. */
  readonly others: readonly SavedOther[];
};

type SavedOther = Pick<OtherConversation, "kind" | "name"> & { readonly id?: string; readonly entries: number };

/** How to save: `again` imports a session that has changed since, `dryRun` writes nothing. */
export type SaveOptions = {
  readonly again?: boolean;
  readonly dryRun?: boolean;
  readonly title?: string | undefined;
  readonly onProgress?: (done: number, total: number) => void;
};

/** Imports a foreign session as a session of ours. One that was imported before is not imported twice. */
export const saveForeignSession = async (
  { world, home, sessions, root: fallback }: SaveTarget,
  session: ForeignSession,
  { again = false, dryRun = false, title, onProgress }: SaveOptions = {},
): Promise<SavedImport> => {
  const { agent, id, size, modified } = session;
  const imported = await importForeignSession(world, session, onProgress);
  const { conversation, digest, leftOut, folder } = imported;
  const existing = folder === undefined ? undefined : await world.disk.canonicalPath(folder).catch(() => undefined);
  const root = existing ?? fallback;
  const report = {
    entries: conversation.entries.length,
    leftOut,
    root,
    others: [],
    ...(existing === undefined && folder !== undefined ? { missingFolder: folder } : {}),
  };
  const sources = (await listImportedSources(world, home)).filter(({ source }) => source.agent === agent);
  const before = sources.filter(({ source }) => source.id === id);
  const origin = sources.find(({ source }) => source.id === session.forkOf)?.id;
  const same = before.find(({ source }) => source.digest === digest);
  if (same !== undefined) return { ...report, state: "unchanged", id: same.id };
  if (before[0] !== undefined && !again) return { ...report, state: "changed", id: before[0].id };
  const saveOthers = async (of?: string): Promise<Pick<SavedImport, "others" | "leftOut">> => {
    const others: SavedOther[] = [];
    for await (const other of importOtherConversations(world, session))
      others.push({
        kind: other.kind,
        name: other.name,
        entries: other.conversation.entries.length,
        ...(of === undefined ? {} : { id: await createOther(other, of) }),
      });
    const isOwn = ({ what }: Omission): boolean => what === otherBranches || /of subagents/.test(what);
    return { others, leftOut: others.length === 0 ? leftOut : leftOut.filter((each) => !isOwn(each)) };
  };
  const createOther = async (other: OtherConversation, of: string): Promise<string> => {
    const created = await sessions.create(
      newSessionFromConversation(other.conversation, {
        root,
        ...(other.model === undefined ? {} : { model: other.model }),
        title: `${name ?? session.title} (${other.kind} ${other.kind === "subagent" ? (other.title ?? other.name) : other.name})`,
        source: { agent, id: `${id}/${other.name}`, digest: other.digest, size, modified, of },
      }),
    );
    await created.close();
    return created.id;
  };
  const name = title ?? imported.title;
  if (dryRun) return { ...report, ...(await saveOthers()), state: "would-import" };
  const created = await sessions.create(
    newSessionFromConversation(conversation, {
      root,
      ...(imported.model === undefined ? {} : { model: imported.model }),
      ...(name === undefined ? {} : { title: name }),
      source: { agent, id, digest, size, modified, ...(origin === undefined ? {} : { of: origin }) },
    }),
  );
  await created.close();
  return { ...report, ...(await saveOthers(created.id)), state: "imported", id: created.id };
};
