import type { ZodType } from "zod";
import type { JsonObject } from "../conversation/json.ts";
import type { Structured, Text } from "../conversation/parts.ts";
import type { Capabilities } from "./capabilities.ts";

/** What a tool does to the world. It decides what must be asked, and what may run together. */
export type Access = "read" | "write" | "execute" | "network";

/** What the model may do: one file per tool. */
export type Tool<Input = unknown> = {
  readonly name: string;
  /** What its server calls it, where models know it by another name. */
  readonly originalName?: string;
  readonly description: string;
  readonly access: Access;
  /** Whether nothing in the world tells afterwards that it ran. */
  readonly isReadOnly?: boolean;
  /** Whether it takes as long as it takes, because what it does has limits of its own. */
  readonly hasNoTimeout?: boolean;
  readonly input: InputSchema<Input>;
  /** What models are told of the parameters, where that is not made from `input`. */
  readonly parameters?: JsonObject;
  /** Other names models know for its parameters, by the name that counts. */
  readonly aliases?: { readonly [parameter: string]: readonly string[] };
  /** Arguments in another shape some models know, in ours. Runs before the schema. */
  readonly normalizeInput?: (raw: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
  /** What a call would touch, as far as its arguments tell. Paths may be relative. */
  readonly touches: (input: Input) => TouchedResources;
  /** One line for people: what this call does. */
  readonly title: (input: Input) => string;
  /** What an edit would write, before it is approved. Throws a `ToolFailure` where it cannot work. */
  readonly propose?: (input: Input, can: Capabilities) => Promise<EditProposal>;
  /** The arguments that write this text instead of the proposed one, after a person edited the proposal. */
  readonly amend?: (input: Input, proposal: EditProposal, edited: string) => Input;
  readonly run: (input: Input, can: Capabilities) => ToolReturn;
};

/** What checks arguments: a Zod type, or something that answers like one. */
export type InputSchema<Input = unknown> = Pick<ZodType<Input>, "safeParseAsync">;

/** Everything a call may touch. */
export type TouchedResources = {
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
  readonly command?: { readonly text: string; readonly folder: string };
  readonly urls?: readonly string[];
};

/** A file as it is, and as it would be. `before` is undefined for a new file. */
export type EditProposal = { readonly path: string; readonly before: string | undefined; readonly after: string };

/**
 * What a tool returns, at once or as a promise: a whole `ToolResult`, or directly a text, a value, a file, bytes, or a list of these.
 * `normalizeResult` reads all of them.
 */
export type ToolReturn = unknown;

/** What came of a call. */
export type ToolResult = {
  /** What the model reads, in order. */
  readonly content: readonly ToolContent[];
  /** What a person sees. */
  readonly display: ToolDisplay;
  /** Set where the tool failed; then `content` says so too. */
  readonly error?: ToolError;
};

export type ToolContent = Text | Structured | ToolFile | ToolFileUrl;

/** A file for the model. */
export type ToolFile = FileProperties & { readonly type: "file"; readonly bytes: Uint8Array };

/** A file somebody else serves. APIs that take addresses get `url`; for others the file is fetched. */
export type ToolFileUrl = FileProperties & { readonly type: "file"; readonly url: string };

type FileProperties = {
  readonly mimeType: string;
  readonly name?: string;
  readonly width?: number;
  readonly height?: number;
  readonly pages?: number;
};

/** What a person sees of a result. */
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

/** Lines the model and the person added and removed. */
export type DiffStat = {
  readonly aiAdded: number;
  readonly aiRemoved: number;
  readonly userAdded: number;
  readonly userRemoved: number;
};

export type ToolError = { readonly type: ToolErrorType; readonly message: string };

/** Why a tool failed: a closed set, so that programs can tell. */
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

/** Thrown by a tool or a capability to end a call as a typed error. The message is for the model. */
export class ToolFailure extends Error {
  readonly type: ToolErrorType;

  constructor(type: ToolErrorType, message: string, options?: ErrorOptions) {
    super(message, options);
    this.type = type;
  }
}

/** A tool whatever its input, as registries hold it. What its schema has read is what its functions take. */
export type AnyTool = Omit<Tool<never>, "input" | "amend"> & {
  readonly input: InputSchema;
  readonly amend?: (input: never, proposal: EditProposal, edited: string) => unknown;
};

/** Fixes the type of a tool's input by its schema. */
export const defineTool = <Input>(tool: Tool<Input>): AnyTool => tool;
