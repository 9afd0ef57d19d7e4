export { sessionFrom, type NewSession } from "./create.ts";
export { explainSession, SessionError, type SessionFailure } from "./error.ts";
export { conversationOf } from "./export.ts";
export { tellFinding, type Finding } from "./finding.ts";
export type { Saved } from "./load.ts";
export { markdownOf } from "./markdown.ts";
export type {
  EntryRecord,
  Head,
  ModelName,
  ModelRecord,
  NewRecord,
  RepairRecord,
  RequestRecord,
  SessionRecord,
  TitleRecord,
  ToolsRecord,
  UnknownRecord,
  Written,
} from "./record.ts";
export type { Retention } from "./remove.ts";
export { completeInterrupted, resumeSession, type Interrupted } from "./resume.ts";
export type { Excerpt } from "./search.ts";
export type { Session } from "./session.ts";
export { openSessions, type InProject, type Match, type ReadSession, type Sessions } from "./store.ts";
export { summaryOf, type Summary } from "./summary.ts";
