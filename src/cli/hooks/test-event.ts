import { isObject, type JsonObject } from "../../conversation/json.ts";
import { HookEngine, type HookActivity, type HookOutcome } from "../../extensions/hooks/hook-engine.ts";
import type { HookResult } from "../../extensions/hooks/hook-output.ts";
import { findToolName } from "../../policy/gate/tool-names.ts";
import type { HookEvent } from "../../settings/schema/hook-shape.ts";
import type { Arguments } from "../command.ts";
import { printJson } from "../format.ts";
import { sanitizeLine } from "../text-table.ts";
import { usageError } from "../user-error.ts";
import type { HookContext } from "./context.ts";
import { requireEvent } from "./run.ts";

/** Runs the hooks of an event as a session would, and prints what each got, printed and decided. */
export const testEvent = async (context: HookContext, name: string, args: Arguments): Promise<number> => {
  const event = requireEvent(name);
  const given = parseInput(args.value("input"));
  const tool = args.value("tool");
  if (isToolEvent(event) && tool === undefined) throw usageError(`hooks test ${event} needs --tool NAME.`);
  const { world, root, hooks } = context;
  const runs: { readonly activity: HookActivity; readonly result: HookResult; readonly input: string }[] = [];
  const engine = new HookEngine({
    world,
    folder: root,
    sessionId: "test",
    hooks,
    commonFields: () => ({ session_id: "test", transcript_path: "", cwd: root, permission_mode: "default" }),
    onActivity: (activity, result, input) => runs.push({ activity, result, input }),
  });
  const outcome = await engine.run(
    tool === undefined
      ? { event, ...subjectOf(event, given), fields: given }
      : { event, call: { tool: findToolName(tool) ?? tool, input: given }, fields: { tool_use_id: "test" } },
    new AbortController().signal,
  );
  await engine.close();
  if (args.has("json"))
    printJson({ event, runs: runs.map(({ activity, result, input }) => ({ ...activity, input, result })), outcome });
  else printRuns(event, runs, outcome);
  return runs.some(({ activity: { status } }) => status === "failed" || status === "skipped") ? 1 : 0;
};

const parseInput = (text: string | undefined): JsonObject => {
  try {
    const value: unknown = JSON.parse(text ?? "{}");
    if (isObject(value)) return value as JsonObject;
  } catch {
    // Reported below.
  }
  throw usageError("--input must be a JSON object.");
};

const isToolEvent = (event: HookEvent): boolean => /ToolUse|PermissionRequest/.test(event);

/** The fields matchers are tested against, by event. */
const subjectFields: { readonly [event in HookEvent]?: string } = {
  SessionStart: "source",
  SessionEnd: "reason",
  SubagentStart: "agent_type",
  SubagentStop: "agent_type",
  PreCompact: "trigger",
  PostCompact: "trigger",
  Notification: "notification_type",
  PreModelSwitch: "to_model",
  PostModelSwitch: "to_model",
};

const subjectOf = (event: HookEvent, given: JsonObject): { readonly subject: string } | undefined => {
  const value = given[subjectFields[event] ?? ""];
  return typeof value === "string" ? { subject: value } : undefined;
};

const printRuns = (
  event: HookEvent,
  runs: readonly { readonly activity: HookActivity; readonly result: HookResult; readonly input: string }[],
  { decision, reason, input, context, stop }: HookOutcome,
): void => {
  if (runs.length === 0) return void process.stdout.write(`No hook matches ${event}.\n`);
  for (const { activity, input: given, result } of runs) {
    const lines = [
      `${activity.source}: ${activity.hook}`,
      `  input:  ${given}`,
      `  status: ${activity.status} in ${activity.durationMs} ms`,
      ...(result.failure === undefined ? [] : [`  failure: ${result.failure}`]),
      ...(result.message === undefined ? [] : [`  message: ${result.message}`]),
      ...(result.context === undefined ? [] : [`  context: ${result.context}`]),
    ];
    process.stdout.write(`${lines.map(sanitizeLine).join("\n")}\n`);
  }
  const summary = [
    `decision: ${decision ?? "none"}${reason === "" ? "" : ` (${reason})`}`,
    ...(input === undefined ? [] : [`runs with: ${JSON.stringify(input)}`]),
    ...(context.length === 0 ? [] : [`context for the model: ${context.length}`]),
    ...(stop === undefined ? [] : [`stops the turn: ${stop}`]),
  ];
  process.stdout.write(`${summary.map(sanitizeLine).join("\n")}\n`);
};
