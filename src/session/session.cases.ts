import { call, done, text } from "../conversation/builders.ts";
import type { Conversation, Blobs, Entry } from "../conversation/entry.ts";
import { Ledger } from "../conversation/ledger.ts";
import { storeBytes, type StoredMedia } from "../conversation/media.ts";
import { simulatedDisk, type SimulatedDisk, type DiskFault, type DiskChange } from "../world/simulated/disk.ts";
import { simulatedWorld, type SimulatedWorld } from "../world/simulated/world.ts";
import type { NewRecord } from "./log/record.ts";
import type { Session } from "./session.ts";
import { openSessionStore, type SessionStore } from "./store/store.ts";

/** A session store on a simulated disk that can be made to fail. */
export type SessionFixture = {
  readonly world: SimulatedWorld;
  readonly disk: SimulatedDisk;
  readonly sessions: SessionStore;
  /** Makes disk changes fail from now on; undefined stops that. */
  readonly failChanges: (find: ((change: DiskChange) => DiskFault | undefined) | undefined) => void;
  /** All disk changes so far. */
  readonly changes: readonly DiskChange[];
};

export const home = "/home/someone/.parley";
export const root = "/home/someone/code/app";
/** The time at which a fixture starts. */
export const startTime: number = Date.UTC(2026, 2, 1, 9);

export const createSessionFixture = ({
  me = "1-0",
  disk: given,
}: { readonly me?: string; readonly disk?: SimulatedDisk } = {}): SessionFixture => {
  let find: ((change: DiskChange) => DiskFault | undefined) | undefined;
  const changes: DiskChange[] = [];
  let now = (): number => 0;
  const disk =
    given ??
    simulatedDisk({
      now: () => now(),
      before: (change) => {
        changes.push(change);
        return find?.(change);
      },
    });
  if (given === undefined) disk.seed("/home/someone", { kind: "folder" });
  const world = simulatedWorld({ disk, identity: me, start: startTime });
  now = world.clock.now;
  return { world, disk, sessions: openSessionStore(world, { home }), failChanges: (next) => (find = next), changes };
};

/** An image, as a part and as bytes to store. */
export const picture: StoredMedia = storeBytes(new Uint8Array([1, 2, 3, 4]), {
  mimeType: "image/png",
  name: "page.png",
});
export const blobs: Blobs = { [picture.blob.hash]: picture.blob.base64 };

/** A small conversation with a tool call, an image in its result, and a final message. */
export const conversation = (): Conversation => {
  const ledger = new Ledger();
  ledger.user([text("What is on example.org?")]);
  const origin = { provider: "anthropic", model: "claude-sonnet-5" };
  const [shot] = ledger.model(origin, [
    { type: "thinking", text: "I need to see it." },
    call("screenshot", { url: "a" }),
  ]);
  if (shot !== undefined) ledger.complete(shot.id, "screenshot", done("The page:", picture.media));
  ledger.model({ provider: "openai", model: "gpt-5.6" }, [text("A cat.")]);
  return { version: 1, system: "Be brief.", tools: [{ name: "screenshot" }], entries: ledger.entries, blobs };
};

export const userEntry = (words: string): Entry => ({ type: "user", parts: [text(words)] });
export const userRecord = (words: string): NewRecord => ({ kind: "entry", entry: userEntry(words) });

/** Creates a session with these prompts, one append each, and closes it. */
export const createClosedSession = async ({ sessions }: SessionFixture, words: readonly string[]): Promise<string> => {
  const session = await sessions.create({ root, system: "Be brief." });
  for (const word of words) await session.append([userRecord(word)]);
  await session.close();
  return session.id;
};

/** Lists the texts of a session's entries, notices in brackets. */
export const listEntryTexts = ({ entries }: Pick<Session, "entries">): readonly string[] =>
  entries.map((each) => {
    if (each.type === "notice") return `(${each.text})`;
    return each.type === "user"
      ? each.parts.map((part) => (part.type === "text" ? part.text : part.type)).join(" ")
      : each.type;
  });

/** Finds a session's file and returns its path and text. */
export const findSessionFile = (disk: SimulatedDisk, id: string): { readonly path: string; readonly text: string } => {
  const [found] = Object.entries(disk.snapshot()).filter(([path]) => path.endsWith(`/${id}.jsonl`));
  if (found === undefined) throw new Error(`Session ${id} has no file.`);
  return { path: found[0], text: found[1] };
};
