import { isObject, type JsonObject } from "../../conversation/json.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import type { HookEvent } from "../../settings/schema/hook-shape.ts";
import type { Hook } from "./hook.ts";

/** How a run of a hook ended: an exit with its output, or a failure before that. */
export type HookRun =
  | { readonly type: "exit"; readonly code: number; readonly output: string; readonly error: string }
  | { readonly type: "failure"; readonly why: string };

/** The meaning of one run of a hook. Texts are sanitized and of limited length. */
export type HookResult = {
  readonly decision?: HookDecision;
  readonly reason?: string;
  /** Arguments to run the tool with, as the hook wrote them. */
  readonly updatedInput?: unknown;
  /** Whether those replace the arguments, or are merged with them. */
  readonly mergesInput?: true;
  /** Text for the model. */
  readonly context?: string;
  /** Set if the hook wants everything to stop; the text is for the person. */
  readonly stop?: string;
  /** A message for the person. */
  readonly message?: string;
  /** Why the hook failed, for the person. */
  readonly failure?: string;
};

/** deny: blocked. A hook that only adds context decides nothing. */
export type HookDecision = "deny" | "ask" | "allow";

/** Characters of a hook's text that are used. */
const maxTextLength = 10_000;

/** Reads the end of a run as Claude Code defines it: 0 is success, 2 blocks with stderr as the reason, others are errors. */
export const readHookRun = (hook: Hook, run: HookRun): HookResult => {
  if (run.type === "failure") return failed(hook, run.why);
  const { code, output, error } = run;
  if (code === 0) return readOutput(hook, output);
  const reason = clean(error === "" ? output : error);
  if (code === 2) return block(hook.event, reason === "" ? "The hook gave no reason." : reason);
  // Claude Code and Gemini CLI read the JSON of a hook that fails, too. Here it can only restrict.
  const result = hook.format !== "codex" && output.trim().startsWith("{") ? readOutput(hook, output) : {};
  if (result.decision === "deny" || result.decision === "ask" || result.stop !== undefined) return result;
  return failed(hook, `It ended with exit code ${code}${reason === "" ? "." : `: ${firstLine(reason)}`}`);
};

const failed = (hook: Hook, why: string): HookResult => {
  const failure = clean(why);
  return hook.blocksOnFailure ? { ...block(hook.event, `A hook failed. ${failure}`), failure } : { failure };
};

/** Blocks what the event is about; where it has happened already, the model gets the reason. */
const block = (event: HookEvent, reason: string): HookResult => {
  switch (event) {
    case "PreToolUse":
    case "PermissionRequest":
    case "UserPromptSubmit":
    case "Stop":
    case "SubagentStop":
    case "PreCompact":
    case "PreModelSwitch":
      return { decision: "deny", reason };
    case "PostToolUse":
    case "PostToolUseFailure":
      return { context: reason };
    case "SessionStart":
    case "SessionEnd":
    case "SubagentStart":
    case "PostCompact":
    case "Notification":
    case "PostModelSwitch":
      return { message: reason };
  }
};

const readOutput = (hook: Hook, output: string): HookResult => {
  const text = output.trim();
  if (text === "") return {};
  if (!text.startsWith("{")) return usesPlainText(hook.event) ? { context: clean(text) } : {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return failed(hook, "Its output is not valid JSON.");
  }
  return isObject(value) ? readJson(hook, value) : failed(hook, "Its output is not a JSON object.");
};

/** Events whose plain output is context for the model. */
const usesPlainText = (event: HookEvent): boolean =>
  event === "SessionStart" || event === "UserPromptSubmit" || event === "SubagentStart";

const commonFields: readonly string[] = [
  "continue",
  "stopReason",
  "suppressOutput",
  "systemMessage",
  "decision",
  "reason",
  "hookSpecificOutput",
];
const specificFields: readonly string[] = [
  "hookEventName",
  "permissionDecision",
  "permissionDecisionReason",
  "updatedInput",
  "additionalContext",
  "decision",
  "tool_input",
];

const decisionFields: readonly string[] = ["behavior", "message", "updatedInput", "interrupt"];

/** The fields that have a value and no effect. Codex writes null for a field it does not use. */
const listUnused = (fields: Fields, known: readonly string[], prefix = ""): readonly string[] =>
  Object.keys(fields)
    .filter((field) => !known.includes(field) && fields[field] !== null)
    .map((field) => prefix + field);

const readJson = (hook: Hook, json: Fields): HookResult => {
  const specific = isObject(json["hookSpecificOutput"]) ? json["hookSpecificOutput"] : {};
  const nested = isObject(specific["decision"]) ? specific["decision"] : {};
  const ignored = [
    ...listUnused(json, commonFields),
    ...listUnused(specific, specificFields, "hookSpecificOutput."),
    ...listUnused(nested, decisionFields, "hookSpecificOutput.decision."),
  ];
  const messages = [
    ...(typeof json["systemMessage"] === "string" ? [json["systemMessage"]] : []),
    ...(ignored.length === 0 ? [] : [`These fields of its output have no effect: ${ignored.join(", ")}.`]),
  ];
  const interrupts = nested["behavior"] === "deny" && nested["interrupt"] === true;
  const stopReason = text(json["stopReason"]) ?? (interrupts ? text(nested["message"]) : undefined);
  const stop = json["continue"] === false || interrupts ? (stopReason ?? "A hook stopped the turn.") : undefined;
  const context = text(specific["additionalContext"]);
  return {
    ...readDecision(hook, json, specific),
    ...readInput(hook, specific),
    ...(context === undefined ? {} : { context }),
    ...(stop === undefined ? {} : { stop }),
    ...(messages.length === 0 ? {} : { message: clean(messages.join(" ")) }),
  };
};

const readInput = (
  hook: Hook,
  specific: Fields,
): Pick<HookResult, "decision" | "reason" | "updatedInput" | "mergesInput"> => {
  const nested = isObject(specific["decision"]) ? specific["decision"]["updatedInput"] : undefined;
  const merged = hook.format === "gemini" ? specific["tool_input"] : undefined;
  const updatedInput = specific["updatedInput"] ?? nested ?? merged;
  if (updatedInput === undefined || updatedInput === null) return {};
  // The hook wanted other arguments than those of the model, so the call must not run with those.
  if (!isObject(updatedInput)) return block(hook.event, "A hook returned arguments that are not a JSON object.");
  return { updatedInput, ...(updatedInput === merged ? { mergesInput: true } : {}) };
};

type Fields = { readonly [field: string]: unknown };

/**
 * The decision of an output: the strictest, if it has one in the older form too. A word that is no known decision
 * blocks: what cannot be read must not allow.
 */
const readDecision = (hook: Hook, json: Fields, specific: Fields): HookResult => {
  const nested = isObject(specific["decision"]) ? specific["decision"] : {};
  const words = [specific["permissionDecision"], nested["behavior"], json["decision"]].filter(
    (each) => each !== undefined && each !== null,
  );
  if (words.length === 0) return {};
  const reason =
    text(specific["permissionDecisionReason"]) ??
    text(nested["message"]) ??
    text(json["reason"]) ??
    "A hook blocked it.";
  const unknown = words.find((each) => typeof each !== "string" || !decisionWords.includes(each));
  if (words.includes("deny") || words.includes("block")) return block(hook.event, reason);
  if (unknown !== undefined)
    return block(hook.event, `A hook gave the unknown decision ${JSON.stringify(unknown).slice(0, 60)}.`);
  return { decision: words.includes("ask") ? "ask" : "allow", reason };
};

const decisionWords: readonly string[] = ["allow", "approve", "ask", "deny", "block"];

const text = (value: unknown): string | undefined => {
  const cleaned = typeof value === "string" ? clean(value) : "";
  return cleaned === "" ? undefined : cleaned;
};

const clean = (given: string): string => {
  const sanitized = sanitizeForTerminal(given).trim();
  if (sanitized.length <= maxTextLength) return sanitized;
  return `${sanitized.slice(0, maxTextLength).toWellFormed()}\n[${sanitized.length - maxTextLength} characters omitted]`;
};

const firstLine = (given: string): string => given.split("\n")[0] ?? "";

/** Arguments a hook returned, merged where its format says so. */
export const applyUpdate = (input: JsonObject, updated: JsonObject, merges: boolean): JsonObject =>
  merges ? { ...input, ...updated } : updated;
