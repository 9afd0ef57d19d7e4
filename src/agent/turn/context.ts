import type { UserPart } from "../../conversation/parts.ts";
import type { Transport } from "../../transport/transport.ts";
import type { RequestSettings } from "../../wire/wire.ts";
import type { Clock } from "../../world/world.ts";
import type { ContextWindow } from "../context-window/window.ts";
import type { AgentEvent } from "../events.ts";
import type { LazyScheduler } from "../lazy-scheduler.ts";
import type { ModelInputCheck } from "../models/input.ts";
import type { ModelChange, ModelRouter } from "../models/router.ts";
import type { SpendingTracker } from "../models/spending.ts";
import type { AgentOptions, TurnLimits } from "../options.ts";
import type { RequestBuilder } from "../requests/builder.ts";
import type { MediaFetcher } from "../requests/fetch-media.ts";
import type { Journal } from "../session/journal.ts";
import type { OutputCheck } from "./output.ts";

/** The parts of an agent that all turns of a conversation share. */
export type TurnContext = Pick<AgentOptions, "beforeCalls" | "confirm" | "hooks" | "modelSettings"> & {
  readonly transport: Transport;
  readonly journal: Journal;
  readonly builder: RequestBuilder;
  readonly router: ModelRouter;
  readonly spending: SpendingTracker;
  readonly window: ContextWindow;
  readonly settings: RequestSettings;
  readonly limits: TurnLimits;
  /** Holds the answers of turns to a schema. */
  readonly output?: OutputCheck | undefined;
  readonly clock: Pick<Clock, "after">;
  readonly scheduler: Pick<LazyScheduler, "open" | "preload">;
  /** Counts the requests of the conversation. */
  readonly nextRequestNumber: () => number;
  /** Removes and returns the messages queued since the last call. */
  readonly takeQueuedMessages: () => readonly (readonly UserPart[])[];
  /** Removes and returns the notices added since the last call. */
  readonly takeNotices: () => readonly string[];
  /** The session id, the same when the session is resumed. */
  readonly sessionId?: string | undefined;
  /** Finds out which media a model accepts before it is sent any. */
  readonly inputCheck?: Pick<ModelInputCheck, "prepare"> | undefined;
  /** Downloads media for models that accept no URLs. */
  readonly mediaFetcher?: Pick<MediaFetcher, "prepare">;
  /** Applies changes between requests, such as a changed list of tools. */
  readonly beforeRequest?: () => Promise<void>;
  /** Passes a change of the model on to hooks; absent if none are configured for it. */
  readonly afterModelChange?: ((change: ModelChange | undefined) => Promise<void>) | undefined;
  readonly emit: (event: AgentEvent) => void;
};
