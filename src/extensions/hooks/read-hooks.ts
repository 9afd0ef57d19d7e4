import { isObject } from "../../conversation/json.ts";
import { nearestNames } from "../../conversation/nearest-names.ts";
import { checkValue, formatIssue, hasNoErrors } from "../../settings/schema/check.ts";
import { hookEvents, hookHandlerShape, type HookEvent } from "../../settings/schema/hook-shape.ts";
import type { HookHandlerSettings } from "../../settings/schema/values.ts";
import { parseMatcher } from "./match-name.ts";
import { describeHookSource, type Hook, type HookHandler, type HookSet } from "./hook.ts";

/** Hooks that can run, and a sentence for everything that cannot. */
export type ReadHooks = { readonly hooks: readonly Hook[]; readonly problems: readonly string[] };

/** Checks hook sets. A faulty handler, group or event is left out with a problem; the others are used. */
export const readHooks = (sets: readonly HookSet[]): ReadHooks => mergeRead(sets.map(readHookSet));

const readHookSet = (set: HookSet): ReadHooks => {
  const { settings } = set;
  if (!isObject(settings)) return problem(set, "hooks must be an object with events.");
  return mergeRead(
    Object.entries(settings).map(([event, groups]) =>
      isHookEvent(event) ? readEvent(set, event, groups) : problem(set, unknownEventMessage(event)),
    ),
  );
};

/** Whether Parley has this event. */
export const isHookEvent = (event: string): event is HookEvent => (hookEvents as readonly string[]).includes(event);

const unknownEventMessage = (event: string): string => {
  const [near] = nearestNames(event, hookEvents);
  return `The event ${JSON.stringify(event.slice(0, 60))} is unknown, so its hooks do not run.${near === undefined ? "" : ` Did you mean ${near}?`}`;
};

const readEvent = (set: HookSet, event: HookEvent, groups: unknown): ReadHooks => {
  if (!Array.isArray(groups)) return problem(set, `hooks.${event} must be a list.`);
  return mergeRead(groups.map((group, index) => readGroup(set, event, { group, path: `hooks.${event}.${index}` })));
};

const readGroup = (
  set: HookSet,
  event: HookEvent,
  { group, path }: { readonly group: unknown; readonly path: string },
): ReadHooks => {
  if (!isObject(group)) return problem(set, `${path} must be an object with matcher, hooks.`);
  const { matcher = "", hooks: handlers } = group;
  const unknown = Object.keys(group).filter((name) => name !== "matcher" && name !== "hooks");
  const problems = unknown.map((name) => describeProblem(set, `Unknown setting ${path}.${name}.`));
  if (!Array.isArray(handlers)) return problem(set, `${path} needs hooks.`);
  if (typeof matcher !== "string" || parseMatcher(matcher) === undefined)
    return problem(set, `${path}.matcher is neither names joined by | nor a valid regular expression.`);
  const read = handlers.map((handler, index) =>
    readHandler(set, { event, matcher, handler, path: [...path.split("."), "hooks", `${index}`] }),
  );
  return mergeRead([{ hooks: [], problems }, ...read]);
};

const readHandler = (
  set: HookSet,
  given: {
    readonly event: HookEvent;
    readonly matcher: string;
    readonly handler: unknown;
    readonly path: readonly string[];
  },
): ReadHooks => {
  const issues = checkValue(hookHandlerShape, given.handler, given.path);
  const problems = issues.map((issue) => describeProblem(set, formatIssue(issue)));
  if (!hasNoErrors(issues)) return { hooks: [], problems };
  // The shape was checked above.
  const settings = given.handler as HookHandlerSettings;
  const handler = toHandler(settings);
  if (handler === undefined)
    return problem(set, `${given.path.join(".")} needs ${settings.type === "http" ? "url" : "command"}.`);
  const { timeout, if: condition, async: isAsync = false, onFailure, format = "claude", statusMessage } = settings;
  const hook: Hook = {
    event: given.event,
    set,
    matcher: given.matcher,
    ...(condition === undefined ? {} : { condition }),
    handler,
    timeoutMs: Math.min(timeout === undefined ? defaultTimeout(given.event) : timeout * 1000, maxTimeoutMs),
    isAsync,
    blocksOnFailure: onFailure === "block",
    format,
    label: settings.name ?? describeHandler(handler),
    ...(statusMessage === undefined ? {} : { statusMessage }),
  };
  return { hooks: [hook], problems };
};

const toHandler = ({
  type,
  command,
  args,
  url,
  headers = {},
  allowedEnvVars = [],
}: HookHandlerSettings): HookHandler | undefined => {
  switch (type) {
    case "command":
      if (command === undefined) return undefined;
      return args === undefined ? { type: "command", command } : { type: "program", program: command, args };
    case "http":
      return url === undefined ? undefined : { type: "http", url, headers, allowedVariables: allowedEnvVars };
  }
};

const describeHandler = (handler: HookHandler): string => {
  switch (handler.type) {
    case "command":
      return handler.command;
    case "program":
      return [handler.program, ...handler.args].join(" ");
    case "http":
      return handler.url;
  }
};

/** Milliseconds. A timer cannot be longer than the second value. */
const defaultTimeout = (event: HookEvent): number =>
  event === "UserPromptSubmit" ? 30_000 : event === "SessionEnd" ? 10_000 : 600_000;
const maxTimeoutMs = 2 ** 31 - 1;

const describeProblem = ({ source, file }: HookSet, message: string): string =>
  `Hooks (${describeHookSource(source)}, ${file}): ${message}`;

const problem = (set: HookSet, message: string): ReadHooks => ({
  hooks: [],
  problems: [describeProblem(set, message)],
});

const mergeRead = (all: readonly ReadHooks[]): ReadHooks => ({
  hooks: all.flatMap(({ hooks }) => hooks),
  problems: all.flatMap(({ problems }) => problems),
});
