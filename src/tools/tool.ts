import type { ZodType } from "zod";
import type { JsonObject } from "../conversation/json.ts";
import type { Structured, Text } from "../conversation/parts.ts";
import type { Capabilities } from "./capabilities.ts";

/** The kind of access a tool needs. It decides what needs approval, and what may run in parallel. */
export type Access = "read" | "write" | "execute" | "network";

/** A tool that models can call. */
export type Tool<Input = unknown> = {
  readonly name: string;
  /** The name its MCP server gave it, where models see another. */
  readonly originalName?: string;
  readonly description: string;
  readonly access: Access;
  /**
   * Whether it has no side effect at all, not even a request to a server: it may then run before the call is recorded.
   */
  readonly isReadOnly?: boolean;
  /** Whether no time limit applies, because its work has limits of its own. */
  readonly hasNoTimeout?: boolean;
  readonly input: InputSchema<Input>;
  /** The JSON Schema sent to models, where it is not generated from `input`. */
  readonly parameters?: JsonObject;
  /** Other names models use for its parameters, by the real name. */
  readonly aliases?: { readonly [parameter: string]: readonly string[] };
  /** Converts arguments from another shape that some models use. Runs before the schema. */
  readonly normalizeInput?: (raw: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
  /** The resources a call would touch, as far as its arguments tell. Paths may be relative. */
  readonly touches: (input: Input) => TouchedResources;
  /** The remote agent a call is sent to; undefined if it stays on this machine. */
  readonly remoteAgent?: (input: Input) => RemoteAgentTarget | undefined;
  /** One line for the user: what this call does. */
  readonly title: (input: Input) => string;
  /** Computes the edit before it is approved. Throws a `ToolFailure` where it cannot be made. */
  readonly propose?: (input: Input, capabilities: Capabilities) => Promise<EditProposal>;
  /** The arguments that write this text instead of the proposed one, after the user edited the proposal. */
  readonly amend?: (input: Input, proposal: EditProposal, edited: string) => Input;
  readonly run: (input: Input, capabilities: Capabilities) => ToolReturn;
};

/** A validator of arguments: a Zod type, or an object with its parse method and, where models see it, its JSON Schema. */
export type InputSchema<Input = unknown> = Pick<ZodType<Input>, "safeParseAsync"> & {
  readonly jsonSchema?: JsonObject;
};

/** All resources a call may touch. */
export type TouchedResources = {
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
  readonly command?: { readonly text: string; readonly folder: string };
  readonly urls?: readonly string[];
};

/** A remote agent as the permission gate sees it. */
export type RemoteAgentTarget = {
  readonly name: string;
  /** Where it is reached. */
  readonly url: string;
  /** The digest of its definition: an answer of the user holds only for what was shown. */
  readonly identity: string;
  /** The environment variables whose values it gets because a file of a project or plugin names them. */
  readonly variables: readonly string[];
  /** The text that is sent. */
  readonly prompt: string;
};

/** An edit: the file's text before and after. `before` is undefined for a new file. */
export type EditProposal = { readonly path: string; readonly before: string | undefined; readonly after: string };

/**
 * The return value of a tool or a promise of it: a whole `ToolResult`, or directly a text, a value, a file, bytes, or a
 * list of these. `normalizeResult` converts all of them.
 */
export type ToolReturn = unknown;

/** The result of a call. */
export type ToolResult = {
  /** The content for the model, in order. */
  readonly content: readonly ToolContent[];
  /** The display for the user. */
  readonly display: ToolDisplay;
  /** Set where the tool failed; `content` then says so too. */
  readonly error?: ToolError;
};

export type ToolContent = Text | Structured | ToolFile | ToolFileUrl;

/** A file for the model. */
export type ToolFile = FileProperties & { readonly type: "file"; readonly bytes: Uint8Array };

/** A file on another server. APIs that accept URLs get `url`; for others the file is downloaded. */
export type ToolFileUrl = FileProperties & { readonly type: "file"; readonly url: string };

type FileProperties = {
  readonly mimeType: string;
  readonly name?: string;
  readonly width?: number;
  readonly height?: number;
  readonly pages?: number;
};

/** The display of a result. */
export type ToolDisplay =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "diff";
      readonly path: string;
      readonly before: string | undefined;
      readonly after: string;
      readonly patch: string;
      readonly stat: DiffStat;
    }
  | { readonly type: "listing"; readonly title: string; readonly lines: readonly string[] };

/** Lines added and removed by the model and by the user. */
export type DiffStat = {
  readonly aiAdded: number;
  readonly aiRemoved: number;
  readonly userAdded: number;
  readonly userRemoved: number;
};

export type ToolError = { readonly type: ToolErrorType; readonly message: string };

/** The kinds of failure: a closed list, so that programs can match on it. */
export type ToolErrorType =
  | "invalid_tool_params"
  | "tool_not_registered"
  | "policy_violation"
  | "permission_denied"
  | "path_not_in_workspace"
  | "file_not_found"
  | "target_is_directory"
  | "path_is_not_a_directory"
  | "file_too_large"
  | "not_a_regular_file"
  | "read_content_failure"
  | "file_write_failure"
  | "file_modified_conflict"
  | "no_space_left"
  | "attempt_to_create_existing_file"
  | "edit_no_occurrence_found"
  | "edit_expected_occurrence_mismatch"
  | "edit_no_change"
  | "glob_execution_error"
  | "grep_execution_error"
  | "ls_execution_error"
  | "shell_execute_error"
  | "web_fetch_no_url_in_prompt"
  | "web_fetch_fallback_failed"
  | "web_fetch_processing_error"
  | "web_search_failed"
  | "memory_tool_execution_error"
  | "mcp_tool_error"
  | "timeout"
  | "execution_failed"
  | "unhandled_exception";

/** Thrown by a tool or a capability to end a call with a typed error. The message is for the model. */
export class ToolFailure extends Error {
  readonly type: ToolErrorType;

  constructor(type: ToolErrorType, message: string, options?: ErrorOptions) {
    super(message, options);
    this.type = type;
  }
}

/** A tool with any input type, as registries hold it. Its functions get what its own schema returned. */
export type AnyTool = Omit<Tool<never>, "input" | "amend"> & {
  readonly input: InputSchema;
  readonly amend?: (input: never, proposal: EditProposal, edited: string) => unknown;
};

/**
 * A tool as it is defined: what its calls touch, and the line the person reads about one, can be left out. A tool that
 * names no paths, command or URLs gets no capabilities for them.
 */
export type ToolDefinition<Input> = Omit<Tool<Input>, "touches" | "title"> &
  Partial<Pick<Tool<Input>, "touches" | "title">>;

/** Defines a tool; the type of its input is inferred from its schema. */
export const defineTool = <Input>({
  touches = () => ({}),
  title = () => tool.name,
  ...tool
}: ToolDefinition<Input>): AnyTool => ({ ...tool, touches, title });
