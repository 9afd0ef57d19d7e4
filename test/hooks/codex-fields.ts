import { Ajv, type ValidateFunction } from "ajv";
import type { HookEvent } from "../../src/settings/schema/hook-shape.ts";

/*
 * The inputs of Codex's hooks, field by field as its JSON Schemas have them: closed, every field required but those with
 * a question mark.
 */

type FieldType = "string" | "string?" | "string or null" | "boolean" | "any" | readonly string[];
type Fields = { readonly [field: string]: FieldType };

const session: Fields = { session_id: "string", transcript_path: "string or null", cwd: "string" };
const mode: Fields = { permission_mode: ["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"] };
const turn: Fields = { ...session, model: "string", turn_id: "string" };
const inSubagent: Fields = { agent_id: "string?", agent_type: "string?" };
const subagent: Fields = { agent_id: "string", agent_type: "string" };
const tool: Fields = { ...turn, ...mode, ...inSubagent, tool_name: "string", tool_input: "any" };
const compaction: Fields = { ...turn, ...inSubagent, trigger: ["manual", "auto"] };
const end: Fields = { stop_hook_active: "boolean", last_assistant_message: "string or null" };

/** The fields of each event's input. */
export const codexInputFields: { readonly [event in HookEvent]?: Fields } = {
  SessionStart: { ...session, ...mode, model: "string", source: ["startup", "resume", "clear", "compact"] },
  SessionEnd: { ...session, reason: ["other"] },
  UserPromptSubmit: { ...turn, ...mode, ...inSubagent, prompt: "string" },
  PreToolUse: { ...tool, tool_use_id: "string" },
  PermissionRequest: tool,
  PostToolUse: { ...tool, tool_use_id: "string", tool_response: "any" },
  Stop: { ...turn, ...mode, ...end },
  SubagentStart: { ...turn, ...mode, ...subagent },
  SubagentStop: { ...turn, ...mode, ...subagent, ...end, agent_transcript_path: "string or null" },
  PreCompact: compaction,
  PostCompact: compaction,
};

/** The JSON Schema of an event's input. */
const codexInputSchema = (event: HookEvent): object => {
  const fields: Fields = { ...codexInputFields[event], hook_event_name: [event] };
  return {
    type: "object",
    additionalProperties: false,
    required: Object.keys(fields).filter((field) => fields[field] !== "string?"),
    properties: Object.fromEntries(Object.entries(fields).map(([field, type]) => [field, schemaOf(type)])),
  };
};

const schemaOf = (type: FieldType): object => {
  if (typeof type !== "string") return { enum: type };
  if (type === "any") return {};
  return { type: type === "string or null" ? ["string", "null"] : type.replace("?", "") };
};

/** Compiles the check of an event's input. */
export const compileCodexInput = (event: HookEvent): ValidateFunction =>
  new Ajv({ allErrors: true, strictTypes: false }).compile(codexInputSchema(event));
