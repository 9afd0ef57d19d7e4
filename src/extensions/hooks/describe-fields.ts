import { isObject, type JsonObject } from "../../conversation/json.ts";
import type { HookEvent } from "../../settings/schema/hook-shape.ts";
import type { HookOccasion } from "./hook-engine.ts";
import type { Hook } from "./hook.ts";
import { describeFileResponse, describeShellResponse, nameCall, shellOutput } from "./hooked-call.ts";

/** A hook, and the name of the tool it matched. */
type DescribedFor = {
  readonly hook: Hook;
  readonly name: string;
  readonly folder: string;
  /** Milliseconds since 1970. */
  readonly now: number;
};

/** Describes what happened as the input of a hook: each agent has fields of its own. */
export const describeFields = (
  { hook, name, folder, now }: DescribedFor,
  { event, call, fields }: HookOccasion,
  common: JsonObject,
): JsonObject => {
  const named = call === undefined ? undefined : nameCall(call, name, folder);
  const base = { ...common, hook_event_name: event, ...named };
  const { tool_response: response } = fields;
  const text = typeof response === "string" ? response : undefined;
  switch (hook.format) {
    case "claude": {
      if (event === "PostToolUseFailure") return omitFields({ ...base, ...fields }, ["tool_response"]);
      if (text === undefined || call === undefined || named === undefined) return { ...base, ...fields };
      const described = name === "Bash" ? describeShellResponse(text, call) : describeFileResponse(text, named);
      return { ...base, ...fields, ...(described === undefined ? {} : { tool_response: described }) };
    }
    case "codex": {
      const own = event === "PostToolUseFailure" ? "PostToolUse" : event;
      const output = text !== undefined && call !== undefined && name === "Bash" ? shellOutput(text, call) : response;
      const all = {
        ...base,
        hook_event_name: own,
        ...fields,
        ...(response === undefined ? {} : { tool_response: output }),
      };
      return omitFields(all, fieldsNotInCodex[own] ?? []);
    }
    case "gemini":
      return {
        ...omitFields({ ...base, ...fields }, ["last_assistant_message", "error", "is_interrupt"]),
        hook_event_name: geminiEventNames[event] ?? event,
        timestamp: new Date(now).toISOString(),
        ...describeGeminiEnd(fields),
      };
  }
};

/** The result of a tool, and the answer of a turn, as Gemini CLI has them. */
const describeGeminiEnd = ({
  tool_response: response,
  error,
  last_assistant_message: answer,
}: JsonObject): JsonObject => {
  const text = response ?? error;
  if (answer !== undefined) return { prompt_response: answer };
  if (text === undefined || isObject(text)) return {};
  const failure = response === undefined && error !== undefined ? { error: { message: error } } : {};
  return { tool_response: { llmContent: text, returnDisplay: text, ...failure } };
};

/** The names of events in Gemini CLI, where they differ. */
const geminiEventNames: { readonly [event in HookEvent]?: string } = {
  PreToolUse: "BeforeTool",
  PostToolUse: "AfterTool",
  PostToolUseFailure: "AfterTool",
  UserPromptSubmit: "BeforeAgent",
  Stop: "AfterAgent",
  SubagentStop: "AfterAgent",
  PreCompact: "PreCompress",
};

/** Fields of Claude Code and ours that Codex does not have: the schemas of its inputs are closed. */
const fieldsNotInCodex: { readonly [event in HookEvent]?: readonly string[] } = {
  SessionStart: ["turn_id"],
  SessionEnd: ["turn_id", "model", "permission_mode"],
  PermissionRequest: ["tool_use_id", "reason"],
  PostToolUse: ["duration_ms", "error", "is_interrupt"],
  PreCompact: ["permission_mode", "custom_instructions"],
  PostCompact: ["permission_mode", "tokens_before", "tokens_after"],
};

const omitFields = (input: JsonObject, omitted: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(input).filter(([field]) => !omitted.includes(field)));
