export { createAgent, type Agent, type AgentOptions, type Question } from "./agent.ts";
export type { Head } from "./compositions.ts";
export type {
  AgentEvent,
  AgentFailure,
  ChangeReason,
  CompactionFacts,
  EndReason,
  RequestFacts,
  Spent,
} from "./events.ts";
export type { FetchFile } from "./fetch-media.ts";
export { Journal, type Log, type Remark } from "./journal.ts";
export { modelName, parseModel, type ModelRef } from "./model-ref.ts";
export { openAgent, type Opened, type OpenOptions } from "./open.ts";
export type { Pool } from "./route.ts";
export type { ServerAsking } from "./server-asking.ts";
export type { SwitchCheck } from "./switch-check.ts";
export type { Limits } from "./turn.ts";
