export { createAgent, type Agent, type AgentOptions, type Question } from "../agent/agent.ts";
export type { Head } from "../agent/compositions.ts";
export type {
  AgentEvent,
  AgentFailure,
  ChangeReason,
  CompactionFacts,
  EndReason,
  RequestFacts,
  Spent,
} from "../agent/events.ts";
export type { FetchFile } from "../agent/fetch-media.ts";
export { Journal, type Log, type Remark } from "../agent/journal.ts";
export { modelName, parseModel, type ModelRef } from "../agent/model-ref.ts";
export { openAgent, type Opened, type OpenOptions } from "../agent/open.ts";
export type { Pool } from "../agent/route.ts";
export type { ServerAsking } from "../agent/server-asking.ts";
export type { SwitchCheck } from "../agent/switch-check.ts";
export type { Limits } from "../agent/turn.ts";

/* Settings, sessions and the demo model, as the command-line program uses them. */
export { loadSettings, type Loaded, type Places } from "../settings/load.ts";
export type { Settings, SomeSettings } from "../settings/values.ts";
export { SettingsError } from "../settings/error.ts";
export { homeFolder } from "../settings/home.ts";
export { openSessions, type Sessions } from "../session/store.ts";
export { SessionError } from "../session/error.ts";
export { conversationOf } from "../session/export.ts";
export type { Session } from "../session/session.ts";
export type { Summary } from "../session/summary.ts";
export { withOffline, type OfflineOptions } from "../offline/net.ts";
export { parseOfflineScript } from "../offline/parse-script.ts";
export type { OfflineScript } from "../offline/script.ts";

/* Approvals: the questions a front end answers, and the modes that decide when there is one. */
export type { Approval, CallDecision, Decision, Finished, SchedulerEvent } from "../scheduler/events.ts";
export { approvalModes, type ApprovalMode } from "../policy/mode.ts";
export { PolicyError } from "../policy/error.ts";
