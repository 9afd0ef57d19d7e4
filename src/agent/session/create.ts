import type { Skill } from "../../context/skills/find.ts";
import type { SessionPlugins } from "../../extensions/plugins/session.ts";
import type { UserPart } from "../../conversation/parts.ts";
import { UnknownNameError } from "../../providers/unknown-name.ts";
import type { NewSession } from "../../session/store/create.ts";
import { SessionError } from "../../session/error.ts";
import type { Session } from "../../session/session.ts";
import type { SessionStore } from "../../session/store/store.ts";
import { singleModelPool, type ModelChoice } from "../models/choose.ts";
import type { RequestPrefix } from "../requests/builder.ts";
import { Journal } from "./journal.ts";
import { loadModel } from "../models/name.ts";
import type { ResolvedAgentOptions } from "../options.ts";
import { collectSessionContext } from "./context.ts";

/** A session and its conversation, with messages for the person about it. */
export type StartedSession = {
  readonly session: Session;
  readonly journal: Journal;
  readonly prefix: RequestPrefix;
  readonly notes: readonly string[];
  /** The most important of the notes. */
  readonly warnings?: readonly string[];
  /** The context files in the system prompt; unknown for a resumed session. */
  readonly contextFiles?: readonly string[];
};

/** The parts of a new session. */
type NewSessionParts = {
  readonly choice: ModelChoice;
  readonly tools: RequestPrefix["tools"];
  readonly skills: readonly Skill[];
  readonly plugins: SessionPlugins | undefined;
};

/** Creates a session. The system prompt and the initial context are stored in it and never built again. */
export const startSession = async (
  options: ResolvedAgentOptions,
  sessions: SessionStore,
  { choice, tools, ...extensions }: NewSessionParts,
): Promise<StartedSession> => {
  const { system, environment, notes, root, contextFiles } = await collectSessionContext(options, tools, extensions);
  const [first] = choice.pool.models;
  const { session, warnings } = await createStoredSession(options, sessions, {
    root,
    system,
    tools,
    ...(first === undefined ? {} : { model: { provider: first.provider.id, model: first.model } }),
    // A compaction keeps the first notice, so the contents of files are in a second one.
    records: [environment.slice(0, 1), environment.slice(1)].flatMap((parts) => {
      const text = joinText(parts);
      return text === "" ? [] : [{ kind: "entry", entry: { type: "notice", text, opens: true } }];
    }),
  });
  return {
    session,
    journal: new Journal(session, session),
    prefix: { system, tools },
    notes: [...warnings, ...notes],
    warnings,
    contextFiles,
  };
};

type CreatedSession = { readonly session: Session; readonly warnings: readonly string[] };

/** Creates a session in the store: in memory if it is not to be saved, or with a warning if the store cannot be written. */
const createStoredSession = async (
  { world, isSaved }: Pick<ResolvedAgentOptions, "world" | "isSaved">,
  sessions: SessionStore,
  start: NewSession,
): Promise<CreatedSession> => {
  if (isSaved === false) {
    const { createInMemorySession } = await import("../../session/store/in-memory.ts");
    return { session: await createInMemorySession(world, start), warnings: [] };
  }
  try {
    return { session: await sessions.create(start), warnings: [] };
  } catch (error) {
    if (!(error instanceof SessionError) || !isUnwritable(error)) throw error;
    const { createInMemorySession } = await import("../../session/store/in-memory.ts");
    const warning = `This session is not saved: it is kept in memory and lost when Parley ends. ${error.message}`;
    return { session: await createInMemorySession(world, start), warnings: [warning] };
  }
};

const isUnwritable = ({ failure: { kind } }: SessionError): boolean => kind === "read-only" || kind === "no-space";

const joinText = (parts: readonly UserPart[]): string =>
  parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");

/** The pool of the model the session was last used with, or the chosen one if that model is unknown now. */
export const lastUsedPool = async ({ model }: Session, { pool }: ModelChoice): Promise<ModelChoice["pool"]> => {
  if (model === undefined) return pool;
  try {
    return singleModelPool(await loadModel(`${model.provider}/${model.model}`));
  } catch (error) {
    if (error instanceof UnknownNameError) return pool;
    throw error;
  }
};
