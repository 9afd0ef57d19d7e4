/**
 * Sessions on several machines: workers, commands and events over PostgreSQL.
 *
 * @packageDocumentation
 */
export { createAgentOpener, costOfRecord, type AgentOpenerOptions, type OpenRequest } from "../fleet/agent-opener.ts";
export { openPostgresService, type PostgresServiceOptions } from "../fleet/postgres-service.ts";
export { createSharedAdmission } from "../fleet/shared-admission.ts";
export { openSessionFolders, type SessionFolderKind, type SessionFolderOptions } from "../fleet/session-folders.ts";
export {
  sharedWorkplaces,
  WorkplaceError,
  type SweptWorkplace,
  type Workplace,
  type WorkplaceRequest,
  type Workplaces,
} from "../fleet/workplace.ts";
export { openLiveDoor, type LiveDoor, type LiveOutlet } from "../fleet/live-door.ts";
export type { OpenSessionAgent } from "../fleet/session-driver.ts";
export { driveSession, startWorker, type FleetWorker, type WorkerOptions, type WorkerReport } from "../fleet/worker.ts";
export type { SessionCommand, SessionService } from "../fleet/service.ts";
export { ServiceError, type ServiceFailure } from "../fleet/service-error.ts";
export type { FollowedEvent } from "../fleet/session-events.ts";
