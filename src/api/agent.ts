/**
 * A whole agent: sessions, settings, models, approvals.
 *
 * @packageDocumentation
 */
export type { Agent, PendingApproval, SwitchResult } from "../agent/agent.ts";
export { createAgent } from "../agent/create-agent.ts";
export type { AgentOptions } from "../agent/options.ts";
export type { RequestPrefix } from "../agent/requests/builder.ts";
export type {
  AgentEvent,
  AgentFailure,
  ModelChangeReason,
  CompactionInfo,
  EndReason,
  RequestInfo,
  UsageTotals,
} from "../agent/events.ts";
export type { FetchFile } from "../agent/requests/fetch-media.ts";
export { Journal, type JournalLog, type MetadataRecord } from "../agent/session/journal.ts";
export { modelName, parseModel, type ModelRef } from "../agent/models/parse.ts";
export { openAgent, type AgentSession } from "../agent/open-agent.ts";
export { loadAgentEnvironment, type AgentEnvironment, type AgentEnvironmentOptions } from "../agent/environment.ts";
export type { ApprovalQuestion, ApproveCall, OpenAgentOptions } from "../agent/options.ts";
export { createOutputCheck, type CheckedOutput, type OutputCheck, type OutputSchema } from "../agent/turn/output.ts";
export { TurnError, type Answer } from "../agent/ask.ts";
export type { AskUser, TaskInfo, UserQuestion } from "../tools/capabilities.ts";
export type { TodoItem } from "../conversation/todo.ts";
export type { ModelPool } from "../agent/models/router.ts";
export type { ServerRequestHandlers } from "../agent/mcp/server-requests.ts";
export type { SwitchCheck } from "../agent/models/switch-check.ts";
export type { TurnLimits } from "../agent/options.ts";

/* Settings, sessions and the demo model, as the command-line program uses them. */
export { loadSettings, type LoadedSettings, type SettingsLocations } from "../settings/load/load.ts";
export type { HookSettings, Settings, PartialSettings } from "../settings/schema/values.ts";
export type { HookActivity } from "../extensions/hooks/hook-engine.ts";
export { SettingsError } from "../settings/error.ts";
export { findHomeFolders, type HomeFolders, type HomeOption } from "../world/home-folders.ts";
export { openSessionStore, type SessionStore } from "../session/store/store.ts";
export { SessionError } from "../session/error.ts";
export { exportConversation } from "../session/export/conversation.ts";
export type { Session } from "../session/session.ts";
export type { SessionSummary } from "../session/store/summary.ts";
export { withDemoModel, type DemoModelOptions } from "../offline/net.ts";
export { DemoScriptError, parseDemoScript } from "../offline/script/parse-script.ts";
export type { DemoScript } from "../offline/script/script.ts";

/* Approvals: the questions a front end answers, and the modes that decide when there is one. */
export type {
  ApprovalRequest,
  CallDecision,
  ApprovalDecision,
  FinishedCall,
  SchedulerEvent,
} from "../scheduler/events.ts";
export { approvalModes, type ApprovalMode } from "../policy/gate/approval-mode.ts";
export { PolicyError } from "../policy/error.ts";
