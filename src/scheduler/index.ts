export { createCapabilities, type CallGrant, type CapabilitiesFor, type Services } from "./capabilities.ts";
export type { SchedulerClock } from "./clock.ts";
export type {
  Approval,
  ApprovalSubject,
  CallDecision,
  CallStatus,
  Decision,
  Finished,
  SchedulerEvent,
  ToolCallRecord,
} from "./events.ts";
export { registryOf, type RegisteredTool, type ToolRegistry } from "./registry.ts";
export { createScheduler, type Scheduler, type SchedulerOptions } from "./scheduler.ts";
export { openServices, type OpenServices, type ServicesOptions } from "./services.ts";
