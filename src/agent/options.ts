import type { Call } from "../conversation/parts.ts";
import type { McpServerConfig } from "../mcp/config/read-servers.ts";
import type { EditorBuffers } from "../policy/workspace/editor-buffers.ts";
import type { PolicyOptions } from "../policy/open-policy.ts";
import type { ApprovalDecision, ApprovalRequest } from "../scheduler/events.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import type { SessionStore } from "../session/store/store.ts";
import type { LoadedSettings } from "../settings/load/load.ts";
import type { HookSettings, ModelSettings } from "../settings/schema/values.ts";
import type { AnyTool } from "../tools/tool.ts";
import type { AskUser, ReviewPlan } from "../tools/capabilities.ts";
import type { RenderPolicy } from "../transcript/target.ts";
import type { RequestAdmission, Transport } from "../transport/transport.ts";
import type { RequestSettings } from "../wire/wire.ts";
import type { HomeFolders, HomeOption } from "../world/home-folders.ts";
import type { Clock, World } from "../world/world.ts";
import type { Agent } from "./agent.ts";
import type { AgentEvent } from "./events.ts";
import type { ServerRequestHandlers } from "./mcp/server-requests.ts";
import type { ModelInputRegistry } from "./models/input.ts";
import type { ModelRef } from "./models/name.ts";
import type { ModelPool } from "./models/router.ts";
import type { SpendingTracker } from "./models/spending.ts";
import type { RequestPrefix } from "./requests/builder.ts";
import type { FetchFile } from "./requests/fetch-media.ts";
import type { TurnHooks } from "./hooks/turn-hooks.ts";
import type { Journal } from "./session/journal.ts";
import type { OutputCheck, OutputSchema } from "./turn/output.ts";

/** Limits of a turn. There is none unless it is set. */
export type TurnLimits = {
  /** The most requests of one turn. */
  readonly turns: number;
  /** The most a session may cost, in US dollars. */
  readonly spend: number;
};

/** Asks the person whether a model that repeats itself should continue. */
export type ConfirmContinue = (question: string, signal: AbortSignal) => Promise<boolean>;

/** Options of `createAgent`. */
export type AgentOptions = {
  readonly clock: Pick<Clock, "elapsed" | "after" | "sleep">;
  readonly transport: Transport;
  /** The conversation, new or resumed. */
  readonly journal: Journal;
  readonly prefix: RequestPrefix;
  readonly pool: ModelPool;
  /** Opens the scheduler when the first calls arrive. */
  readonly openScheduler?: () => Promise<Scheduler>;
  /** Loads the code that only some calls need. Called while the first response is awaited. */
  readonly warmUpTools?: () => Promise<void>;
  readonly settings?: RequestSettings;
  readonly policy?: Partial<RenderPolicy>;
  readonly limits?: Partial<TurnLimits>;
  /** Holds the answers of turns to a schema. */
  readonly output?: OutputCheck;
  /** Adds up usage; shared with a parent, the agent counts towards the parent's limit. */
  readonly spending?: SpendingTracker;
  /** The share of the context window that may be full before it is compacted; 0 for never. */
  readonly compactAt?: number;
  /** The description of a model in the settings, which goes before our list. */
  readonly modelSettings?: (model: ModelRef) => ModelSettings | undefined;
  /** The kinds of media models accept, where settings or a server know better than the provider's data. */
  readonly modelInputs?: ModelInputRegistry | undefined;
  /** Called before each request. Returns another request prefix if the list of tools changed. */
  readonly beforeRequest?: () => Promise<RequestPrefix | undefined>;
  /** Called with tool calls before they are scheduled, e.g. to wait for an MCP server. */
  readonly beforeCalls?: (calls: readonly Call[], signal: AbortSignal) => Promise<void>;
  /** The session id, for APIs that group requests by session. */
  readonly sessionId?: string;
  /** Downloads media named by URL for models that accept only bytes. Without it, such models get the URL as text. */
  readonly fetchFile?: FetchFile;
  /** Removes and returns notices for the model, such as the end of a background task. Called between requests. */
  readonly takeNotices?: () => readonly string[];
  /** Text the model has to read again after older entries were replaced by a summary. */
  readonly compactionNotice?: () => string | undefined;
  /** The running subagents, by name. */
  readonly subagents?: ReadonlyMap<string, Agent>;
  /** Asks the person instead of stopping a model that repeats itself. */
  readonly confirm?: ConfirmContinue;
  /** Hooks at the points of a turn. */
  readonly hooks?: TurnHooks | undefined;
  /** Receives every event of every turn, before the reader of the turn. */
  readonly onEvent?: (event: AgentEvent) => void;
};

/** The options that subagents share with their parent. */
export type SharedAgentOptions = Pick<
  AgentOptions,
  | "clock"
  | "transport"
  | "settings"
  | "policy"
  | "compactAt"
  | "modelSettings"
  | "modelInputs"
  | "confirm"
  | "fetchFile"
>;

/** A tool call that needs approval. `agent` names the subagent that made it. */
export type ApprovalQuestion = { readonly call: Call; readonly approval: ApprovalRequest; readonly agent?: string };

/**
 * Decides about a tool call that needs approval. An error, or an answer that is no decision, refuses the call. `signal`
 * is aborted once no answer is needed any more.
 */
export type ApproveCall = (
  question: ApprovalQuestion,
  signal: AbortSignal,
) => ApprovalDecision | Promise<ApprovalDecision>;

/** Options of `openAgent`. Everything but the folder has a default. */
export type OpenAgentOptions<Output = unknown> = {
  /** The project's folder: the workspace of tools, and the folder sessions belong to. */
  readonly folder: string;
  /**
   * The model: `provider/model`, a provider for its default model, or a pool of the settings; or a model of a provider
   * of your own. Default: the one in the settings, else that of the first provider with a key, else the demo model.
   */
  readonly model?: string | ModelRef;
  /** Replaces the system prompt. */
  readonly system?: string;
  /** Added to the end of the system prompt. */
  readonly systemAddition?: string;
  /** Tools of your own, made with `defineTool`, besides the built-in ones. */
  readonly tools?: readonly AnyTool[];
  /** The built-in tools the model gets, by name. Default: all of them. */
  readonly builtinTools?: readonly string[];
  /** Decides about calls that need approval. Without it, and without a person who can be asked, they are refused. */
  readonly approve?: ApproveCall;
  /**
   * The schema of answers: a Zod type, or a JSON Schema. An answer that does not match is requested again, twice at most;
   * then the turn fails.
   */
  readonly output?: OutputSchema<Output>;
  /** The session to resume, by id, or the last one of this folder. Without it, a new session is created. */
  readonly resume?: { readonly id: string } | "last";
  /** The model of a server found on this machine, used if there is neither a choice nor a key. */
  readonly localModel?: string;
  /** Whether to continue in a copy of the resumed session. */
  readonly isFork?: boolean;
  /** Where sessions are saved. Default: files in `home`. */
  readonly sessions?: SessionStore;
  /** False if the session is kept in memory only. */
  readonly isSaved?: boolean;
  /** Receives every event of every turn, and those between turns. */
  readonly onEvent?: (event: AgentEvent) => void;
  /** Parley's own folder, with settings and sessions. Default: as for the command line, see `findHomeFolders`. */
  readonly home?: HomeOption;
  /** Settings that are loaded already. Default: those of `home`, and of the folder if the person trusts it. */
  readonly loaded?: LoadedSettings;
  /** The operating system and the network. Default: the real ones, with the demo model. */
  readonly world?: World;
  /** Whether a person can answer questions (`pendingApprovals`, `decide`). Default: false. */
  readonly interactive?: boolean;
  /** Notices for the model, given before its next request, e.g. that its folder was made anew. */
  readonly notices?: readonly string[];
  /** Folders that sandboxed commands do not see, such as those of other sessions. The workspace counts even inside one. */
  readonly hiddenFolders?: readonly string[];
  /** The folder for outputs too long for the model. Default: one in `home`. */
  readonly scratch?: string;
  /** Limits requests to models, e.g. of several processes together. */
  readonly admission?: RequestAdmission;
  /** Whether a sandbox is required, or used if there is one. Default: as the settings say. */
  readonly sandbox?: PolicyOptions["sandbox"];
  /** MCP servers for this run alone, as written by the person. */
  readonly servers?: unknown;
  /** MCP servers for this run that a program names, such as an editor. Each starts only with consent. */
  readonly offeredServers?: unknown;
  /** Asks the person whether an offered server may be started. Without it, none is. */
  readonly consentToServer?: (config: McpServerConfig) => Promise<boolean>;
  /** The open files of an editor: their text counts, and files are written through it. */
  readonly buffers?: EditorBuffers;
  /** Answers requests of MCP servers. Without it, servers learn that no person is available. */
  readonly serverRequests?: ServerRequestHandlers;
  /** Asks the person whether a model that repeats itself should continue. Without it, such a model is stopped. */
  readonly confirm?: ConfirmContinue;
  /** Asks the person the model's questions (`ask_user`). Without it, the model learns that no person is there. */
  readonly askUser?: AskUser;
  /** Shows a plan (`present_plan`) and asks whether to carry it out. Default: a question by `askUser`. */
  readonly reviewPlan?: ReviewPlan;
  /** Whether notices tell the model of plan mode. Default: true; false where the mode only keeps tools read-only. */
  readonly announcesPlanMode?: boolean;
  /** Hooks for this session besides those of the settings, in the same form. */
  readonly hooks?: HookSettings;
  /** Runs each command that may change files, e.g. between two snapshots of them. */
  readonly watchCommand?: PolicyOptions["watchCommand"];
  /** Shows a message at once while the session opens. */
  readonly onProgress?: (text: string) => void;
};

/** Options of `openAgent` with their defaults filled in. */
export type ResolvedAgentOptions = Omit<OpenAgentOptions, "home"> &
  Required<Pick<OpenAgentOptions, "loaded" | "world" | "interactive">> & { readonly home: HomeFolders };
