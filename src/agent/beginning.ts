import type { UserPart } from "../conversation/parts.ts";
import { UnknownNameError } from "../providers/unknown-name.ts";
import type { NewSession } from "../session/create.ts";
import { SessionError } from "../session/error.ts";
import type { Session } from "../session/session.ts";
import type { Sessions } from "../session/store.ts";
import type { World } from "../world/world.ts";
import { single, type Chosen } from "./choose-model.ts";
import type { Head } from "./compositions.ts";
import { Journal } from "./journal.ts";
import { loadModel } from "./model-name.ts";
import type { OpenOptions } from "./open.ts";
import { openContext } from "./opening.ts";

/** A session, and what to tell the person about it. */
export type Begun = {
  readonly session: Session;
  readonly journal: Journal;
  readonly head: Head;
  readonly notes: readonly string[];
  /** Those of the notes that must not be overlooked. */
  readonly warnings?: readonly string[];
};

/** A new session. What the model is told at its start is kept with it, and never made anew. */
export const begin = async (
  options: OpenOptions,
  sessions: Sessions,
  { chosen, tools }: { readonly chosen: Chosen; readonly tools: Head["tools"] },
): Promise<Begun> => {
  const { system, environment, notes, root } = await openContext(options, tools);
  const [first] = chosen.pool.models;
  const { session, warnings } = await createSession(options.world, sessions, {
    root,
    system,
    tools,
    ...(first === undefined ? {} : { model: { provider: first.provider.id, model: first.model } }),
    // The first notice stays when the rest is summarised, so the contents of files are in another.
    records: [environment.slice(0, 1), environment.slice(1)].flatMap((parts) => {
      const text = wordsIn(parts);
      return text === "" ? [] : [{ kind: "entry", entry: { type: "notice", text, opens: true } }];
    }),
  });
  return {
    session,
    journal: new Journal(session, session),
    head: { system, tools },
    notes: [...warnings, ...notes],
    warnings,
  };
};

type CreatedSession = { readonly session: Session; readonly warnings: readonly string[] };

/** A session in the store; in memory alone, with a warning, where the store cannot be written. */
const createSession = async (world: World, sessions: Sessions, start: NewSession): Promise<CreatedSession> => {
  try {
    return { session: await sessions.create(start), warnings: [] };
  } catch (error) {
    if (!(error instanceof SessionError) || !isUnwritable(error)) throw error;
    const { createInMemory } = await import("../session/in-memory.ts");
    const warning = `This session is not saved: it is kept in memory and lost when Parley ends. ${error.message}`;
    return { session: await createInMemory(world, start), warnings: [warning] };
  }
};

const isUnwritable = ({ failure: { kind } }: SessionError): boolean => kind === "read-only" || kind === "no-space";

const wordsIn = (parts: readonly UserPart[]): string =>
  parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");

/** The model a session was last used with stays, where nobody named another. */
export const lastPool = async ({ model }: Session, { pool }: Chosen): Promise<Chosen["pool"]> => {
  if (model === undefined) return pool;
  try {
    return single(await loadModel(`${model.provider}/${model.model}`));
  } catch (error) {
    if (error instanceof UnknownNameError) return pool;
    throw error;
  }
};
