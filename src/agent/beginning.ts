import type { UserPart } from "../conversation/index.ts";
import { UnknownNameError } from "../providers/unknown-name.ts";
import type { Session, Sessions } from "../session/index.ts";
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
};

/** A new session. What the model is told at its start is kept with it, and never made anew. */
export const begin = async (
  options: OpenOptions,
  sessions: Sessions,
  { chosen, tools }: { readonly chosen: Chosen; readonly tools: Head["tools"] },
): Promise<Begun> => {
  const { system, environment, notes, root } = await openContext(options, tools);
  const [first] = chosen.pool.models;
  const session = await sessions.create({
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
  return { session, journal: new Journal(session, session), head: { system, tools }, notes };
};

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
