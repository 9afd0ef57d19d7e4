import { isObject } from "../../conversation/json.ts";
import { checkValue, formatIssue } from "../../settings/schema/check.ts";
import { hookHandlerShape, type HookEvent } from "../../settings/schema/hook-shape.ts";
import type { HookGroupSettings, HookHandlerSettings, HookSettings } from "../../settings/schema/values.ts";
import { parseMatcher } from "./match-name.ts";
import { isHookEvent } from "./read-hooks.ts";

/** The agents whose hooks can be imported. */
export const hookImportAgents = ["claude", "codex", "gemini"] as const;
export type HookImportAgent = (typeof hookImportAgents)[number];

/** Hooks of another agent in our form. */
export type ImportedHooks = {
  readonly hooks: HookSettings;
  /** How many handlers were taken. */
  readonly count: number;
  /** Everything that was not taken, or changes its meaning, and why. */
  readonly notTaken: readonly NotTaken[];
};

/** A part of another agent's hooks that has no equivalent. */
type NotTaken = { readonly what: string; readonly why: string };

/** Translates the `hooks` value of another agent's settings. */
export const importHooks = (agent: HookImportAgent, hooks: unknown): ImportedHooks => {
  if (hooks === undefined) return nothing;
  if (!isObject(hooks)) return leaveOut("hooks", "It is not an object with events.");
  return Object.entries(hooks)
    .map(([event, groups]) => importEvent(agent, event, groups))
    .reduce(mergeImported, nothing);
};

/** Adds imported hooks to those there are. A group that is there already is not added twice. */
export const addHooks = (own: HookSettings, added: HookSettings): HookSettings => {
  const merged: Record<string, readonly HookGroupSettings[]> = { ...own };
  for (const [event, groups] of Object.entries(added)) {
    const before = merged[event] ?? [];
    const known = new Set(before.map((group) => JSON.stringify(group)));
    merged[event] = [...before, ...groups.filter((group) => !known.has(JSON.stringify(group)))];
  }
  return merged;
};

const nothing: ImportedHooks = { hooks: {}, count: 0, notTaken: [] };

const leaveOut = (what: string, why: string): ImportedHooks => ({ ...nothing, notTaken: [{ what, why }] });

/** Events of Gemini CLI that Parley has under another name. */
const geminiEvents: { readonly [event: string]: HookEvent } = {
  BeforeTool: "PreToolUse",
  AfterTool: "PostToolUse",
  BeforeAgent: "UserPromptSubmit",
  AfterAgent: "Stop",
  PreCompress: "PreCompact",
  SessionStart: "SessionStart",
  SessionEnd: "SessionEnd",
  Notification: "Notification",
};

/** Why events of other agents are not taken. */
const eventsWithoutEquivalent: { readonly [event: string]: string } = {
  BeforeModel: "Hooks cannot change a request: its prefix stays the same for the prompt cache.",
  AfterModel: "Hooks cannot change an answer while it is streamed.",
  BeforeToolSelection: "Hooks cannot change the tools of a request: its prefix stays the same for the prompt cache.",
};

const importEvent = (agent: HookImportAgent, name: string, groups: unknown): ImportedHooks => {
  // Codex keeps the trust of its hooks beside the events.
  if (agent === "codex" && name === "state") return nothing;
  const event = agent === "gemini" ? geminiEvents[name] : isHookEvent(name) ? name : undefined;
  if (event === undefined) return leaveOut(name, eventsWithoutEquivalent[name] ?? "Parley has no such event.");
  if (!Array.isArray(groups)) return leaveOut(name, "It is not a list of groups.");
  return groups
    .map((group, index) => importGroup(agent, event, { group, what: `${name}.${index}` }))
    .reduce(mergeImported, nothing);
};

type NamedGroup = { readonly group: unknown; readonly what: string };

const importGroup = (agent: HookImportAgent, event: HookEvent, { group, what }: NamedGroup): ImportedHooks => {
  if (!isObject(group) || !Array.isArray(group["hooks"])) return leaveOut(what, "It has no list of hooks.");
  const { matcher, hooks, sequential, ...others } = group;
  if (agent === "codex" && typeof matcher === "string" && isForPatchesOnly(matcher))
    return leaveOut(what, "Parley has no apply_patch: files are edited with Edit and Write, which it does not match.");
  const read = hooks.map((handler, index) => importHandler(agent, handler, `${what}.hooks.${index}`));
  const taken = read.flatMap(({ handler }) => (handler === undefined ? [] : [handler]));
  const notTaken = [
    ...read.flatMap((each) => each.notTaken),
    ...Object.keys(others).map((field) => ({ what: `${what}.${field}`, why: "Unknown field; left out." })),
    ...(sequential === true ? [{ what: `${what}.sequential`, why: "Hooks of an event run in parallel." }] : []),
    ...(matcher === undefined || matcher === null || typeof matcher === "string"
      ? []
      : [{ what: `${what}.matcher`, why: "It is not a string; the group is left out." }]),
  ];
  if (taken.length === 0 || (matcher !== undefined && matcher !== null && typeof matcher !== "string"))
    return { ...nothing, notTaken };
  const imported = { ...(typeof matcher === "string" && matcher !== "" ? { matcher } : {}), hooks: taken };
  return { hooks: { [event]: [imported] }, count: taken.length, notTaken };
};

/** Whether a matcher names the one tool with which Codex edits files, and none that there is here. */
const isForPatchesOnly = (matcher: string): boolean => {
  const isMatch = parseMatcher(matcher);
  return isMatch?.("apply_patch") === true && !isMatch("Edit") && !isMatch("Write") && !isMatch("Bash");
};

type ImportedHandler = {
  readonly handler?: HookHandlerSettings;
  readonly notTaken: readonly NotTaken[];
};

const handlerTypes: { readonly [type: string]: string } = {
  prompt: "Hooks in which a model decides are not supported.",
  agent: "Hooks in which an agent decides are not supported.",
  mcp_tool: "Hooks that call a tool of an MCP server are not supported.",
};

/** Fields whose loss changes nothing the person would notice. */
const silentFields: readonly string[] = ["description"];

const importHandler = (agent: HookImportAgent, given: unknown, what: string): ImportedHandler => {
  if (!isObject(given)) return { notTaken: [{ what, why: "It is not an object." }] };
  const { type } = given;
  if (type !== "command" && type !== "http")
    return { notTaken: [{ what, why: handlerTypes[String(type)] ?? `Unknown type ${JSON.stringify(type)}.` }] };
  if (given["shell"] === "powershell") return { notTaken: [{ what, why: "It is written for PowerShell." }] };
  // A hook that may wake the agent later runs in the background too, and nothing waits for it here.
  const isAsync = given["asyncRewake"] === true ? { async: true } : {};
  const known = Object.entries({ ...given, ...isAsync }).filter(([name]) =>
    Object.hasOwn(hookHandlerShape.fields, name),
  );
  const unknown = Object.keys(given).filter(
    (name) => !Object.hasOwn(hookHandlerShape.fields, name) && !silentFields.includes(name) && name !== "shell",
  );
  const settings = translateHandler(agent, Object.fromEntries(known));
  const [error] = checkValue(hookHandlerShape, settings, what.split(".")).filter(({ level }) => level === "error");
  if (error !== undefined) return { notTaken: [{ what, why: formatIssue(error) }] };
  return {
    // The shape was checked above.
    handler: settings as unknown as HookHandlerSettings,
    notTaken: unknown.map((name) => ({
      what: `${what}.${name}`,
      why: "Parley has no such field; the hook is taken without it.",
    })),
  };
};

/** Codex has fewer fields. Gemini CLI counts milliseconds, with a default of one minute, and has its own input and output. */
const translateHandler = (
  agent: HookImportAgent,
  given: { readonly [name: string]: unknown },
): { readonly [name: string]: unknown } => {
  if (agent === "claude") return given;
  if (agent === "codex") return { ...given, format: "codex" };
  const { timeout = 60_000 } = given;
  return { ...given, timeout: typeof timeout === "number" ? timeout / 1000 : timeout, format: "gemini" };
};

const mergeImported = (one: ImportedHooks, other: ImportedHooks): ImportedHooks => ({
  hooks: addHooks(one.hooks, other.hooks),
  count: one.count + other.count,
  notTaken: [...one.notTaken, ...other.notTaken],
});
