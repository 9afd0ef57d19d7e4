import { storeBase64 } from "../conversation/media.ts";
import { isObject, type JsonObject } from "../conversation/json.ts";
import type { CallId, UserPart } from "../conversation/parts.ts";
import type { ApprovalDecision } from "../scheduler/events.ts";
import { ServiceError } from "../fleet/service-error.ts";
import type { FollowedEvent } from "../fleet/session-events.ts";
import type { SessionCommand, SessionService } from "../fleet/service.ts";
import { A2aError, isInterrupted, isTerminal, type A2aState, type A2aStreamItem, type A2aTask } from "./protocol.ts";
import { AnswerDraft } from "./answer-draft.ts";
import { foldTask, readTaskId, taskIdOf, toStatus, toTask, type TaskState } from "./tasks.ts";

/** The operations of A2A for one tenant, on sessions: a context is a session, a task is a turn. */
export type A2aOperations = {
  readonly send: (params: unknown, signal: AbortSignal) => Promise<A2aTask>;
  readonly stream: (params: unknown, signal: AbortSignal) => AsyncIterable<A2aStreamItem>;
  readonly get: (params: unknown) => Promise<A2aTask>;
  readonly list: (params: unknown) => Promise<JsonObject>;
  readonly cancel: (params: unknown, signal: AbortSignal) => Promise<A2aTask>;
  readonly subscribe: (params: unknown, signal: AbortSignal) => AsyncIterable<A2aStreamItem>;
};

export const createOperations = (service: SessionService, tenant: string): A2aOperations => {
  const client = { service, tenant };
  return {
    send: async (params, signal) => {
      const { configuration } = readObject(params);
      const options = isObject(configuration) ? configuration : {};
      const started = await startTask(client, params, signal);
      const returnsAtOnce = options["returnImmediately"] === true || options["blocking"] === false;
      const task = returnsAtOnce ? started.task : await awaitTask(client, started, signal, isInterrupted);
      return toTask(started.session, task, { history: readCount(options["historyLength"], "historyLength") });
    },
    stream: async function* (params, signal) {
      const ended = new AbortController();
      const either = AbortSignal.any([signal, ended.signal]);
      try {
        yield* streamTask(client, await startTask(client, params, either, { isLive: true }), either);
      } finally {
        ended.abort();
      }
    },
    get: async (params) => {
      const { id, historyLength } = readObject(params);
      const { session, task } = await findTask(client, id);
      return toTask(session, task, { history: readCount(historyLength, "historyLength") });
    },
    list: (params) => listTasks(client, readObject(params ?? {})),
    cancel: async (params, signal) => {
      const found = await findTask(client, readObject(params)["id"]);
      if (isTerminal(found.task.state)) throw new A2aError("TASK_NOT_CANCELABLE");
      await service.post(tenant, found.session, { command: { type: "cancel" } });
      return toTask(found.session, await awaitTask(client, found, signal, isTerminal));
    },
    subscribe: async function* (params, signal) {
      const found = await findTask(client, readObject(params)["id"]);
      if (isTerminal(found.task.state))
        throw new A2aError("UNSUPPORTED_OPERATION", "The task has ended: get it instead.");
      yield* streamTask(client, found, signal);
    },
  };
};

type A2aClient = { readonly service: SessionService; readonly tenant: string };
/** A task, and the events it was made from up to a sequence number. */
type FoundTask = {
  readonly session: string;
  readonly task: TaskState;
  readonly tasks: readonly TaskState[];
  readonly sequence: number;
  /** The events of the session from before the message was posted, so that no live text is missed. */
  readonly events?: AsyncIterable<FollowedEvent>;
};

const readObject = (value: unknown): JsonObject => {
  if (!isObject(value)) throw new A2aError("INVALID_PARAMS", "Expected an object.");
  return value as JsonObject;
};

const readCount = (value: unknown, name: string): number | undefined => {
  if (value === undefined) return undefined;
  const count = typeof value === "string" && value !== "" ? Number(value) : value;
  if (typeof count !== "number" || !Number.isInteger(count) || count < 0)
    throw new A2aError("INVALID_PARAMS", `${name} must be a number that is not negative.`);
  return count;
};

/** Reads all tasks of a session. A session of another tenant is answered like a task that does not exist. */
const readTasks = async ({ service, tenant }: A2aClient, session: string): Promise<Omit<FoundTask, "task">> => {
  let tasks: readonly TaskState[] = [];
  let sequence = 0;
  try {
    const { signal } = new AbortController();
    for await (const event of service.follow(tenant, session, { after: 0, signal, untilNow: true })) {
      tasks = foldTask(tasks, event, session);
      ({ sequence } = event);
    }
    return { session, tasks, sequence };
  } catch (error) {
    if (error instanceof ServiceError && error.failure.kind === "not-found") throw new A2aError("TASK_NOT_FOUND");
    throw error;
  }
};

const findTask = async (client: A2aClient, id: unknown): Promise<FoundTask> => {
  const place = typeof id === "string" ? readTaskId(id) : undefined;
  if (typeof id !== "string" || id === "") throw new A2aError("INVALID_PARAMS", "id is missing.");
  if (place === undefined) throw new A2aError("TASK_NOT_FOUND");
  const found = await readTasks(client, place.session);
  const task = found.tasks[place.number - 1];
  if (task === undefined) throw new A2aError("TASK_NOT_FOUND");
  return { ...found, task };
};

/** Follows the task of a session; each step is the task after an event that concerns it. */
const followTask = async function* (
  { service, tenant }: A2aClient,
  { session, task, tasks, sequence }: FoundTask,
  signal: AbortSignal,
): AsyncGenerator<TaskState> {
  let [current, all] = [task, tasks];
  for await (const event of service.follow(tenant, session, { after: sequence, signal })) {
    all = foldTask(all, event, session);
    const next = all[task.number - 1] ?? current;
    if (next === current) continue;
    current = next;
    yield current;
  }
};

const awaitTask = async (
  client: A2aClient,
  found: FoundTask,
  signal: AbortSignal,
  isEnough: (state: A2aState) => boolean,
): Promise<TaskState> => {
  if (isEnough(found.task.state)) return found.task;
  let last = found.task;
  for await (const task of followTask(client, found, signal)) {
    last = task;
    if (isEnough(task.state)) break;
  }
  return last;
};

/** The task, then its changes, up to a state that waits for the client or is final. Text is sent as it arrives. */
const streamTask = async function* (
  { service, tenant }: A2aClient,
  found: FoundTask,
  signal: AbortSignal,
): AsyncGenerator<A2aStreamItem> {
  const { session, task: first, sequence: after } = found;
  yield { task: toTask(session, first) };
  if (isInterrupted(first.state)) return;
  const draft = new AnswerDraft({ taskId: taskIdOf(session, first.number), contextId: session });
  let [task, all] = [first, found.tasks];
  const events = found.events ?? service.follow(tenant, session, { after, signal, isLive: true });
  for await (const followed of events) {
    if (followed.sequence < after || ("at" in followed && followed.sequence === after)) continue;
    if (!("at" in followed)) {
      // Text of another task comes once this one has ended.
      if (all.at(-1)?.number === task.number) yield* draft.addLive(task, followed.event);
      continue;
    }
    all = foldTask(all, followed, session);
    const before = task;
    task = all[first.number - 1] ?? task;
    for (const artifact of task.artifacts.slice(before.artifacts.length)) yield draft.complete(artifact);
    if (task.messages > before.messages) yield* draft.discard();
    if (task.state !== before.state || task.message !== before.message)
      yield { statusUpdate: { taskId: draft.ids.taskId, contextId: session, status: toStatus(task) } };
    if (isInterrupted(task.state)) return;
  }
};

/** Posts a message: a prompt in a new or a known context, or the answer to a question of a task. */
const startTask = async (
  client: A2aClient,
  params: unknown,
  signal: AbortSignal,
  { isLive = false }: { readonly isLive?: boolean } = {},
): Promise<FoundTask> => {
  const { service, tenant } = client;
  const message = readObject(readObject(params)["message"]);
  const { parts, messageId, taskId, contextId } = message;
  if (!Array.isArray(parts) || parts.length === 0) throw new A2aError("INVALID_PARAMS", "message.parts is empty.");
  if (typeof messageId !== "string" || messageId === "")
    throw new A2aError("INVALID_PARAMS", "message.messageId is missing.");
  const key = `a2a:${messageId}`;
  if (typeof taskId === "string" && taskId !== "") {
    const found = await findTask(client, taskId);
    if (typeof contextId === "string" && contextId !== "" && contextId !== found.session)
      throw new A2aError("INVALID_PARAMS", "contextId is not that of the task.");
    const events = isLive ? { events: followNow(client, found, signal) } : {};
    return { ...(await answerTask(client, found, { parts, key, signal })), ...events };
  }
  const command = toPrompt(parts);
  const session =
    typeof contextId === "string" && contextId !== ""
      ? contextId
      : (await service.create(tenant, { key: `${key}:context` })).id;
  const known = await readTasks(client, session).catch((error: unknown) => {
    if (error instanceof A2aError && error.reason === "TASK_NOT_FOUND")
      throw new A2aError("INVALID_PARAMS", "Unknown contextId.");
    throw error;
  });
  const events = isLive ? { events: followNow(client, known, signal) } : {};
  await service.post(tenant, session, { command, key });
  return { ...(await awaitPrompt(client, known, { command, signal })), ...events };
};

/** Follows a session from this moment on, also before the events are read. */
const followNow = (
  { service, tenant }: A2aClient,
  { session, sequence: after }: Omit<FoundTask, "task">,
  signal: AbortSignal,
): AsyncIterable<FollowedEvent> => {
  const iterator = service.follow(tenant, session, { after, signal, isLive: true })[Symbol.asyncIterator]();
  const first = iterator.next();
  // A failure is thrown to the reader.
  first.catch(() => undefined);
  return (async function* () {
    for (let next = await first; next.done !== true; next = await iterator.next()) yield next.value;
  })();
};

/** Resolves with the task of a prompt, once the prompt is in the conversation. */
const awaitPrompt = async (
  { service, tenant }: A2aClient,
  { session, tasks: before, sequence: after }: Omit<FoundTask, "task">,
  { command, signal }: { readonly command: SessionCommand; readonly signal: AbortSignal },
): Promise<FoundTask> => {
  const wanted = JSON.stringify(command.type === "user" ? command.parts : []);
  const repeated = before.findLast(
    (task) => task.history[0] !== undefined && JSON.stringify(task.history[0].parts) === wanted,
  );
  let [tasks, sequence] = [before, after];
  for await (const event of service.follow(tenant, session, { after, signal, untilIdle: true })) {
    tasks = foldTask(tasks, event, session);
    ({ sequence } = event);
    const isOurs = event.event.type === "user" && JSON.stringify(event.event.parts) === wanted;
    const task = tasks.at(-1);
    if (isOurs && task !== undefined && tasks.length > before.length) return { session, task, tasks, sequence };
  }
  // The message was posted before: its task exists already.
  const task = repeated ?? tasks.at(-1);
  if (task === undefined) throw new A2aError("INTERNAL");
  return { session, task, tasks, sequence };
};

const toPrompt = (parts: readonly unknown[]): Extract<SessionCommand, { type: "user" }> => {
  const blobs: { [hash: string]: string } = {};
  const converted = parts.map((part): UserPart => {
    const { text, raw, data, mediaType, filename } = readObject(part);
    if (typeof text === "string") return { type: "text", text };
    if (data !== undefined) return { type: "text", text: JSON.stringify(data) };
    if (typeof raw !== "string")
      throw new A2aError("CONTENT_TYPE_NOT_SUPPORTED", "Send text, data, or a file with its bytes.");
    const { media, blob } = storeBase64(raw, {
      mimeType: typeof mediaType === "string" ? mediaType : "application/octet-stream",
      ...(typeof filename === "string" ? { name: filename } : {}),
    });
    blobs[blob.hash] = blob.base64;
    return media;
  });
  return { type: "user", parts: converted, blobs };
};

/** Answers the questions of a task, or gives a message to its turn while that runs. */
const answerTask = async (
  client: A2aClient,
  found: FoundTask,
  { parts, key, signal }: { readonly parts: readonly unknown[]; readonly key: string; readonly signal: AbortSignal },
): Promise<FoundTask> => {
  const { service, tenant } = client;
  const { session, task } = found;
  if (isTerminal(task.state))
    throw new A2aError(
      "UNSUPPORTED_OPERATION",
      "The task has ended. Send a message with its contextId to begin another.",
    );
  if (task.questions.size === 0) {
    const { parts: words, blobs } = toPrompt(parts);
    await service.post(tenant, session, {
      command: { type: "steer", parts: words, ...(blobs === undefined ? {} : { blobs }) },
      key,
    });
    return found;
  }
  const decisions = readDecisions(parts, [...task.questions.keys()]);
  for (const { call, decision, digest } of decisions)
    await service
      .post(tenant, session, {
        command: { type: "decide", call, decision, ...(digest === undefined ? {} : { digest }) },
        key: `${key}:${call}`,
      })
      .catch((error: unknown) => {
        if (error instanceof ServiceError && error.failure.kind === "not-asked")
          throw new A2aError("INVALID_PARAMS", error.message);
        throw error;
      });
  return awaitDecisions(client, found, { calls: decisions.map(({ call }) => call), signal });
};

/**
 * Resolves with the task once its turn has applied the decisions: until then its questions look open. A decision about a
 * question that has changed since counts for nothing, so the new question ends the wait for it.
 */
const awaitDecisions = async (
  { service, tenant }: A2aClient,
  { session, task, tasks: before, sequence: after }: FoundTask,
  { calls, signal }: { readonly calls: readonly CallId[]; readonly signal: AbortSignal },
): Promise<FoundTask> => {
  const left = new Set(calls);
  let [tasks, sequence] = [before, after];
  for await (const followed of service.follow(tenant, session, { after, signal })) {
    tasks = foldTask(tasks, followed, session);
    ({ sequence } = followed);
    const { event } = followed;
    if (event.type === "decided" || event.type === "result") left.delete(event.call);
    if (event.type === "asked" && event.digest !== task.questions.get(event.call)?.data["digest"])
      left.delete(event.call);
    if (left.size === 0 || (event.type === "turn" && event.end.type !== "parked")) break;
  }
  return { session, task: tasks[task.number - 1] ?? task, tasks, sequence };
};

type TaskDecision = { readonly call: CallId; readonly decision: ApprovalDecision; readonly digest?: string };

/**
 * Reads decisions: data parts name their call. A plain yes counts only where one question is open, since a second one may
 * have opened after the client looked; a plain no refuses all. Other words refuse the calls, and the model reads them.
 */
const readDecisions = (parts: readonly unknown[], open: readonly CallId[]): readonly TaskDecision[] => {
  const decisions = parts.flatMap((part): readonly TaskDecision[] => {
    const { data } = readObject(part);
    if (!isObject(data)) return [];
    const call = data["call"] ?? data["callId"];
    const which = open.find((each) => each === call);
    if (which === undefined) throw new A2aError("INVALID_PARAMS", "The data part names no open call.");
    const { digest } = data;
    return [{ call: which, decision: readDecision(data), ...(typeof digest === "string" ? { digest } : {}) }];
  });
  if (decisions.length > 0) return decisions;
  const text = parts
    .flatMap((part) => {
      const { text: words } = readObject(part);
      return typeof words === "string" ? [words] : [];
    })
    .join("\n")
    .trim();
  if (text === "") throw new A2aError("INVALID_PARAMS", "Answer with yes, no, or a data part.");
  const isYes = /^(yes|y|approve|allow|proceed)[.!]?$/i.test(text);
  if (isYes && open.length > 1)
    throw new A2aError(
      "INVALID_PARAMS",
      `${open.length} calls await approval. Answer each with a data part: {"call": ID, "decision": "once", "digest": DIGEST}.`,
    );
  const decision: ApprovalDecision = isYes
    ? { type: "once" }
    : /^(no|n|refuse|deny|reject)[.!]?$/i.test(text)
      ? { type: "refuse" }
      : { type: "refuse", reason: text };
  return open.map((call) => ({ call, decision }));
};

/** A decision as Parley names it, or an outcome as Gemini CLI's own server does. Anything else refuses the call. */
const readDecision = ({ decision, outcome }: { readonly [key: string]: unknown }): ApprovalDecision => {
  const type = isObject(decision) ? decision["type"] : decision;
  const reason = isObject(decision) && typeof decision["reason"] === "string" ? { reason: decision["reason"] } : {};
  if (type === "once" || outcome === "proceed_once") return { type: "once" };
  if (type === "cancel") return { type: "cancel" };
  return { type: "refuse", ...reason };
};

const listTasks = async (client: A2aClient, params: JsonObject): Promise<JsonObject> => {
  const { contextId, status, pageToken, includeArtifacts, statusTimestampAfter } = params;
  const size = readCount(params["pageSize"], "pageSize") ?? 50;
  if (size < 1 || size > 100) throw new A2aError("INVALID_PARAMS", "pageSize must be from 1 to 100.");
  const history = readCount(params["historyLength"], "historyLength");
  const wanted = status === undefined || status === "" || status === "TASK_STATE_UNSPECIFIED" ? undefined : status;
  const sessions =
    typeof contextId === "string" && contextId !== ""
      ? [contextId]
      : (await client.service.list(client.tenant, { limit: 1000 })).sessions.map(({ id }) => id);
  const after = typeof statusTimestampAfter === "string" ? Date.parse(statusTimestampAfter) : 0;
  const read = await Promise.all(
    sessions.map((id) => readTasks(client, id).catch(() => ({ session: id, tasks: [] as readonly TaskState[] }))),
  );
  const found = read
    .flatMap(({ session, tasks }) => tasks.map((task) => ({ session, task })))
    .filter(({ task }) => (wanted === undefined || task.state === wanted) && task.at >= after)
    .toSorted((one, other) => other.task.at - one.task.at || (one.session < other.session ? 1 : -1));
  const from = typeof pageToken === "string" && pageToken !== "" ? (readCount(pageToken, "pageToken") ?? 0) : 0;
  const page = found.slice(from, from + size);
  return {
    tasks: page.map(({ session, task }) =>
      toTask(session, task, {
        history: history ?? 0,
        artifacts: includeArtifacts === true || includeArtifacts === "true",
      }),
    ) as unknown as JsonObject[],
    nextPageToken: from + size < found.length ? String(from + size) : "",
    pageSize: page.length,
    totalSize: found.length,
  };
};
