import type { Shape, ShapeOf } from "./shape.ts";

const text: Shape = { type: "string" };
const texts: Shape = { type: "list", of: text };

/** The events hooks can run at, with what each is for. The names are those of Claude Code. */
const hookEventDescriptions = {
  SessionStart: "A session begins, is resumed, or was compacted. The matcher is its source.",
  SessionEnd: "A session is closed.",
  UserPromptSubmit: "A prompt is about to be sent.",
  PreToolUse: "A tool is about to run. The matcher is the tool's name.",
  PermissionRequest: "A tool call needs approval. The matcher is the tool's name.",
  PostToolUse: "A tool has run. The matcher is the tool's name.",
  PostToolUseFailure: "A tool has failed. The matcher is the tool's name.",
  Stop: "The model has finished its turn.",
  SubagentStart: "A subagent starts. The matcher is its type.",
  SubagentStop: "A subagent has finished. The matcher is its type.",
  PreCompact: "The context is about to be compacted. The matcher is the trigger, manual or auto.",
  PostCompact: "The context was compacted. The matcher is the trigger.",
  Notification: "A question waits for the user. The matcher is the type of notification.",
  PreModelSwitch: "The model is about to be switched. The matcher is the new model.",
  PostModelSwitch: "The model was switched. The matcher is the new model.",
} as const;

export type HookEvent = keyof typeof hookEventDescriptions;

/** All events, in the order of a session. */
export const hookEvents: readonly HookEvent[] = Object.keys(hookEventDescriptions) as readonly HookEvent[];

/** One handler: a command or a URL. */
export const hookHandlerShape: ShapeOf<"object"> = {
  type: "object",
  oneOf: ["command", "url"],
  fields: {
    type: {
      shape: { type: "enum", of: ["command", "http"] },
      description: "command: runs a command; http: posts to a URL.",
      required: true,
    },
    command: { shape: text, description: "The shell command. It gets the event as JSON on stdin." },
    args: { shape: texts, description: "Arguments: then command is a program, started without a shell." },
    url: { shape: { type: "string", format: "url" }, description: "The URL that gets the event as a JSON body." },
    headers: {
      shape: { type: "record", entries: "headers", of: text },
      description: "Headers of the request. $NAME is replaced by a variable of allowedEnvVars.",
      secret: true,
    },
    allowedEnvVars: { shape: texts, description: "Environment variables that headers may use." },
    timeout: {
      shape: { type: "number", min: 0.001 },
      description: "Timeout in seconds. Default: 600; 30 for UserPromptSubmit, 10 for SessionEnd.",
    },
    if: { shape: text, description: "Runs only for matching tool calls: a rule such as Bash(git *)." },
    async: { shape: { type: "boolean" }, description: "true: nothing waits for it, and its decision has no effect." },
    onFailure: {
      shape: { type: "enum", of: ["continue", "block"] },
      description: "block: a hook that fails or times out counts as one that blocks.",
      default: "continue",
    },
    format: {
      shape: { type: "enum", of: ["claude", "codex", "gemini"] },
      description: "The form of its input and output; codex and gemini for hooks written for those.",
      default: "claude",
    },
    name: { shape: text, description: "A name for lists and messages." },
    statusMessage: { shape: text, description: "Shown while it runs." },
  },
};

/** Handlers with the matcher they share. */
const hookGroupShape: ShapeOf<"object"> = {
  type: "object",
  fields: {
    matcher: {
      shape: text,
      description: "Names joined by |, or a regular expression; empty or * for all.",
    },
    hooks: { shape: { type: "list", of: hookHandlerShape }, description: "The handlers.", required: true },
  },
};

/** Hooks by event. */
export const hooksShape: ShapeOf<"object"> = {
  type: "object",
  fields: Object.fromEntries(
    hookEvents.map((event) => [
      event,
      { shape: { type: "list", of: hookGroupShape }, description: hookEventDescriptions[event] },
    ]),
  ),
};
