import type { JsonObject, JsonValue } from "../conversation/json.ts";
import type { CallId, UserPart } from "../conversation/parts.ts";
import type { FollowedEvent, RecordEvent } from "../fleet/session-events.ts";
import type { A2aArtifact, A2aMessage, A2aPart, A2aState, A2aStatus, A2aTask } from "./protocol.ts";

/** A task as the events of its session tell it: the turn of one prompt. */
export type TaskState = {
  readonly number: number;
  readonly state: A2aState;
  readonly at: number;
  /** The message of the status: what the agent says, or asks. */
  readonly message?: A2aMessage;
  readonly history: readonly A2aMessage[];
  readonly artifacts: readonly A2aArtifact[];
  /** How many messages of the model it has: the next one's text has this number and one as its artifact. */
  readonly messages: number;
  readonly calls: ReadonlyMap<
    CallId,
    { readonly tool: string; readonly input: JsonObject | string; readonly patch?: string }
  >;
  readonly questions: ReadonlyMap<CallId, TaskQuestion>;
  /** Whether the turn is parked: the next prompt gives it up. */
  readonly isParked: boolean;
};

/** A question for approval: in words, and as data that an answer refers to. */
type TaskQuestion = { readonly words: string; readonly data: JsonObject };

/** The id of a task: its session, and the number of its prompt there. */
export const taskIdOf = (session: string, number: number): string => `${session}-${number}`;

/** Reads a task id; undefined if it has another form. */
export const readTaskId = (id: string): { readonly session: string; readonly number: number } | undefined => {
  const [, session, number] = /^([0-9a-z]{10,40})-([1-9]\d{0,8})$/.exec(id) ?? [];
  return session === undefined ? undefined : { session, number: Number(number) };
};

/** Adds an event to the tasks of a session. */
export const foldTask = (
  tasks: readonly TaskState[],
  followed: FollowedEvent,
  session: string,
): readonly TaskState[] => {
  if (!("at" in followed)) return tasks;
  const { event, at, sequence } = followed;
  const last = tasks.at(-1);
  const isOpen = last !== undefined && !isEnded(last);
  if (event.type === "user") {
    const message = toMessage("ROLE_USER", toParts(event.parts), { session, number: last?.number ?? 1, sequence });
    if (isOpen && !last.isParked) return replaceLast(tasks, { ...last, history: [...last.history, message] });
    const before = isOpen
      ? replaceLast(tasks, { ...last, state: "TASK_STATE_CANCELED", at, questions: new Map() })
      : tasks;
    const number = (last?.number ?? 0) + 1;
    return [...before, newTask(number, at, { ...message, taskId: taskIdOf(session, number) })];
  }
  if (!isOpen) return tasks;
  return replaceLast(tasks, { ...foldEvent(last, event, { session, number: last.number, sequence }), at });
};

const isEnded = ({ state }: TaskState): boolean =>
  state === "TASK_STATE_COMPLETED" || state === "TASK_STATE_FAILED" || state === "TASK_STATE_CANCELED";

const replaceLast = (tasks: readonly TaskState[], task: TaskState): readonly TaskState[] => [
  ...tasks.slice(0, -1),
  task,
];

const newTask = (number: number, at: number, message: A2aMessage): TaskState => ({
  number,
  state: "TASK_STATE_WORKING",
  at,
  history: [message],
  artifacts: [],
  messages: 0,
  calls: new Map(),
  questions: new Map(),
  isParked: false,
});

type MessagePlace = { readonly session: string; readonly number: number; readonly sequence: number };

const foldEvent = (task: TaskState, event: RecordEvent, place: MessagePlace): TaskState => {
  switch (event.type) {
    case "message": {
      const messages = task.messages + 1;
      const calls = new Map(task.calls);
      for (const { id, tool, input } of event.calls) calls.set(id, { tool, input });
      if (event.text === "") return { ...task, messages, calls };
      if (event.calls.length > 0) {
        const message = toMessage("ROLE_AGENT", [{ text: event.text, mediaType: "text/plain" }], place);
        return { ...task, messages, calls, message, history: [...task.history, message] };
      }
      const answer = toAnswer(task, event.text);
      return { ...task, messages, calls, artifacts: [...task.artifacts, answer] };
    }
    case "asked": {
      const { call, approval, digest } = event;
      const patch = readPatch(approval);
      const known = task.calls.get(call);
      const calls =
        known === undefined || patch === undefined ? task.calls : new Map(task.calls).set(call, { ...known, patch });
      const questions = new Map(task.questions).set(call, toQuestion(call, approval, digest));
      const message = toMessage("ROLE_AGENT", describeQuestions(questions, calls), place);
      return { ...task, state: "TASK_STATE_INPUT_REQUIRED", message, calls, questions, isParked: false };
    }
    case "decided":
      return withoutQuestion({ ...task, isParked: false }, event.call, place);
    case "result": {
      const artifact = event.status === "complete" ? toArtifact(task, event.call) : undefined;
      const next = withoutQuestion(task, event.call, place);
      return artifact === undefined ? next : { ...next, artifacts: [...next.artifacts, artifact] };
    }
    case "turn":
      return foldEnd(task, event.end, place);
    case "created":
    case "user":
    case "model":
    case "usage":
    case "title":
    case "todos":
    case "notice":
    case "compacted":
      return task;
  }
};

/** The text of the next message of a task as an artifact: all of it, or a part as it arrives. */
export const toAnswer = ({ messages }: TaskState, text: string): A2aArtifact => ({
  artifactId: `answer-${messages + 1}`,
  name: "answer",
  parts: [{ text, mediaType: "text/markdown" }],
});

const withoutQuestion = (task: TaskState, call: CallId, place: MessagePlace): TaskState => {
  if (!task.questions.has(call)) return task;
  const questions = new Map(task.questions);
  questions.delete(call);
  const { message: _, ...rest } = task;
  if (questions.size === 0) return { ...rest, questions, state: "TASK_STATE_WORKING" };
  return { ...rest, questions, message: toMessage("ROLE_AGENT", describeQuestions(questions, task.calls), place) };
};

const foldEnd = (
  task: TaskState,
  end: { readonly type: string; readonly message?: string },
  place: MessagePlace,
): TaskState => {
  const { message: _, ...rest } = task;
  switch (end.type) {
    case "finished":
      return { ...rest, state: "TASK_STATE_COMPLETED" };
    case "cancelled":
      return { ...rest, state: "TASK_STATE_CANCELED", questions: new Map() };
    case "parked":
      return { ...task, state: "TASK_STATE_INPUT_REQUIRED", isParked: true };
    default:
      return {
        ...rest,
        state: "TASK_STATE_FAILED",
        message: toMessage("ROLE_AGENT", [{ text: end.message ?? "The turn failed.", mediaType: "text/plain" }], place),
      };
  }
};

const toMessage = (
  role: A2aMessage["role"],
  parts: readonly A2aPart[],
  { session, number, sequence }: MessagePlace,
): A2aMessage => ({
  messageId: `${session}-m${sequence}`,
  role,
  parts,
  contextId: session,
  taskId: taskIdOf(session, number),
});

const toParts = (parts: readonly UserPart[]): readonly A2aPart[] =>
  parts.map((part) =>
    part.type === "text"
      ? { text: part.text, mediaType: "text/plain" }
      : {
          data: { id: part.id, mediaType: part.mimeType },
          ...(part.name === undefined ? {} : { filename: part.name }),
        },
  );

const toQuestion = (call: CallId, approval: JsonObject, digest: string | undefined): TaskQuestion => ({
  words: [approval["title"], approval["reason"]]
    .flatMap((each) => (typeof each === "string" && each !== "" ? [each] : []))
    .join(": "),
  data: { kind: "approval", call, approval, ...(digest === undefined ? {} : { digest }) },
});

/** All open questions, in the order of the calls: calls are asked about side by side, so the last record may be of any of them. */
const describeQuestions = (
  questions: TaskState["questions"],
  calls: TaskState["calls"],
): readonly [A2aPart, ...A2aPart[]] => {
  const order = [...calls.keys()];
  const open = [...questions].toSorted(([one], [other]) => order.indexOf(one) - order.indexOf(other));
  const [text, ...more] = open.map(([, { words }]) => words);
  const answer =
    more.length === 0
      ? 'Answer yes or no, or with a data part {"call", "decision": {"type": "once" | "refuse"}}.'
      : 'Answer each with a data part {"call", "decision": {"type": "once" | "refuse"}}, or no to all.';
  return [
    { text: [text, ...more, answer].join("\n"), mediaType: "text/plain" },
    ...open.map(([, { data }]) => ({ data, mediaType: "application/json" })),
  ];
};

const readPatch = ({ subject }: JsonObject): string | undefined => {
  if (typeof subject !== "object" || subject === null || Array.isArray(subject)) return undefined;
  const { patch } = subject as { readonly patch?: JsonValue };
  return typeof patch === "string" ? patch : undefined;
};

/** The change of a file as an artifact: the diff that was approved, else the file's new text, else what the call replaced. */
const toArtifact = ({ calls }: TaskState, id: CallId): A2aArtifact | undefined => {
  const call = calls.get(id);
  if (call === undefined || typeof call.input === "string") return undefined;
  const { tool, input, patch } = call;
  const path = input["file_path"];
  if (typeof path !== "string" || (tool !== "write_file" && tool !== "replace" && tool !== "smart_edit"))
    return undefined;
  const { content } = input;
  const part: A2aPart =
    patch !== undefined
      ? { text: patch, mediaType: "text/x-diff", filename: `${path}.diff` }
      : tool === "write_file" && typeof content === "string"
        ? { raw: Buffer.from(content).toString("base64"), mediaType: "text/plain", filename: path }
        : { data: input, mediaType: "application/json", filename: path };
  return { artifactId: id, name: path, description: `Change of ${path}`, parts: [part] };
};

/** The status of a task as A2A writes it. */
export const toStatus = ({ state, message, at }: TaskState): A2aStatus => ({
  state,
  ...(message === undefined ? {} : { message }),
  timestamp: new Date(at).toISOString(),
});

/** A task as A2A writes it, with at most this much of its history. */
export const toTask = (
  session: string,
  task: TaskState,
  {
    history: most,
    artifacts: hasArtifacts = true,
  }: { readonly history?: number | undefined; readonly artifacts?: boolean } = {},
): A2aTask => ({
  id: taskIdOf(session, task.number),
  contextId: session,
  status: toStatus(task),
  ...(hasArtifacts ? { artifacts: task.artifacts } : {}),
  history: most === undefined ? task.history : most === 0 ? [] : task.history.slice(-most),
});
