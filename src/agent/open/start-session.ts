import type { Skill } from "../../context/skills/find.ts";
import type { ToolDeclaration } from "../../conversation/entry.ts";
import type { SessionPlugins } from "../../extensions/plugins/session.ts";
import { openSessionStore } from "../../session/store/store.ts";
import type { ResolvedAgentOptions } from "../options.ts";
import type { RestoredConsents } from "../session/consents.ts";
import { startSession, type StartedSession } from "../session/create.ts";
import type { OpenModels } from "./models.ts";

/** Starts a session, or resumes the one of the options. */
export const startOrResume = async (
  options: ResolvedAgentOptions,
  { choice, inputs }: OpenModels,
  given: {
    readonly tools: readonly ToolDeclaration[];
    readonly skills: readonly Skill[];
    readonly plugins: SessionPlugins | undefined;
  },
): Promise<StartedSession> => {
  const { world, home, resume } = options;
  const sessions = options.sessions ?? openSessionStore(world, { home: home.data });
  if (resume === undefined) return startSession(options, sessions, { choice, ...given });
  const { resumeAgentSession } = await import("../session/resume.ts");
  const resumed = await resumeAgentSession(sessions, resume, options);
  inputs.restore(resumed.session.inputs ?? {}, resumed.journal.ledger.entries);
  return { ...resumed, notes: [...resumed.notes, ...describeLateTools(options, resumed)] };
};

/** A note for each tool of the program that the resumed session was created without. */
const describeLateTools = (
  { tools = [] }: ResolvedAgentOptions,
  { prefix }: Pick<StartedSession, "prefix">,
): readonly string[] =>
  tools
    .filter((tool) => !prefix.tools.some(({ name }) => name === tool.name))
    .map(({ name }) => `The model does not get the tool ${name}: a session keeps the tools it was created with.`);

/** The permission rules the person added in earlier runs of the session. Without any, no code for them is loaded. */
export const restoreConsents = async (
  options: ResolvedAgentOptions,
  { session }: StartedSession,
): Promise<RestoredConsents> =>
  session.consents === undefined
    ? { rules: [], notes: [] }
    : (await import("../session/consents.ts")).restoreConsents(options, session);
