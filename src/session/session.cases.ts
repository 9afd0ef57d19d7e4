import { call, done, text } from "../conversation/builders.ts";
import type { Conversation, Blobs, Entry } from "../conversation/entry.ts";
import { Ledger } from "../conversation/ledger.ts";
import { storeBytes, type Stored } from "../conversation/media.ts";
import { simulatedDisk, type SimulatedDisk, type DiskTrouble, type DiskChange } from "../world/simulated-disk.ts";
import { simulatedWorld, type SimulatedWorld } from "../world/simulated.ts";
import type { NewRecord } from "./record.ts";
import type { Session } from "./session.ts";
import { openSessions, type Sessions } from "./store.ts";

/** A home with sessions on a simulated disk, and a hand on that disk. */
export type Bench = {
  readonly world: SimulatedWorld;
  readonly disk: SimulatedDisk;
  readonly sessions: Sessions;
  /** Lets changes fail from now on; undefined lets all be well again. */
  readonly trouble: (find: ((change: DiskChange) => DiskTrouble | undefined) | undefined) => void;
  /** Every change made so far. */
  readonly changes: readonly DiskChange[];
};

export const home = "/home/someone/.parley";
export const root = "/home/someone/code/app";
/** What the time is when a bench begins. */
export const morning: number = Date.UTC(2026, 2, 1, 9);

export const newBench = ({
  me = "1-0",
  disk: given,
}: { readonly me?: string; readonly disk?: SimulatedDisk } = {}): Bench => {
  let find: ((change: DiskChange) => DiskTrouble | undefined) | undefined;
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
  if (given === undefined) disk.plant("/home/someone", { kind: "folder" });
  const world = simulatedWorld({ disk, me, start: morning });
  now = world.clock.now;
  return { world, disk, sessions: openSessions(world, { home }), trouble: (next) => (find = next), changes };
};

/** A picture, as a part and as bytes to keep. */
export const picture: Stored = storeBytes(new Uint8Array([1, 2, 3, 4]), { mimeType: "image/png", name: "page.png" });
export const blobs: Blobs = { [picture.blob.hash]: picture.blob.base64 };

/** A small conversation with a call, a picture in its result, and an answer. */
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

export const said = (words: string): Entry => ({ type: "user", parts: [text(words)] });
export const entry = (words: string): NewRecord => ({ kind: "entry", entry: said(words) });

/** A session with these words said in it, one write each, closed again. */
export const written = async ({ sessions }: Bench, words: readonly string[]): Promise<string> => {
  const session = await sessions.create({ root, system: "Be brief." });
  for (const word of words) await session.write([entry(word)]);
  await session.close();
  return session.id;
};

/** The words said in a session, notices in brackets. */
export const wordsOf = ({ entries }: Pick<Session, "entries">): readonly string[] =>
  entries.map((each) => {
    if (each.type === "notice") return `(${each.text})`;
    return each.type === "user"
      ? each.parts.map((part) => (part.type === "text" ? part.text : part.type)).join(" ")
      : each.type;
  });

/** The path of a session's file, and its bytes. */
export const fileOf = (disk: SimulatedDisk, id: string): { readonly path: string; readonly text: string } => {
  const [found] = Object.entries(disk.tree()).filter(([path]) => path.endsWith(`/${id}.jsonl`));
  if (found === undefined) throw new Error(`There is no file of ${id}.`);
  return { path: found[0], text: found[1] };
};
