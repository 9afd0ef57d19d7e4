import { isObject } from "../../../conversation/json.ts";
import { RemoteAgentError } from "./remote-agent-error.ts";

/* Reads what a remote agent sends, in A2A 1.0 or 0.3, into one form. Everything is unknown until it is read here. */

/** A part of a message or artifact. */
export type RemotePart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "data"; readonly data: unknown }
  | { readonly type: "bytes"; readonly base64: string; readonly mediaType?: string; readonly name?: string }
  | { readonly type: "url"; readonly url: string; readonly mediaType?: string; readonly name?: string };

/** The states of a task, in the words of 0.3. */
export type RemoteState =
  | "submitted"
  | "working"
  | "input-required"
  | "auth-required"
  | "completed"
  | "failed"
  | "canceled"
  | "rejected";

type RemoteIds = { readonly task: string | undefined; readonly context: string | undefined };

/** One item of a stream, or the answer to a request. */
export type RemoteItem =
  | ({ readonly type: "message"; readonly parts: readonly RemotePart[] } & RemoteIds)
  | ({
      readonly type: "task";
      readonly state: RemoteState;
      readonly says: readonly RemotePart[];
      readonly artifacts: readonly RemoteArtifact[];
    } & RemoteIds)
  | ({ readonly type: "status"; readonly state: RemoteState; readonly says: readonly RemotePart[] } & RemoteIds)
  | ({ readonly type: "artifact"; readonly artifact: RemoteArtifact; readonly append: boolean } & RemoteIds);

export type RemoteArtifact = { readonly id: string; readonly name?: string; readonly parts: readonly RemotePart[] };

/** Reads a StreamResponse of 1.0, an event of 0.3, or the result of a request. */
export const readItem = (value: unknown): RemoteItem => {
  if (!isObject(value)) throw unreadable();
  const { task, message, statusUpdate, artifactUpdate, kind } = value;
  if (isObject(task)) return readTask(task);
  if (isObject(message)) return readMessage(message);
  if (isObject(statusUpdate)) return readStatus(statusUpdate);
  if (isObject(artifactUpdate)) return readArtifactUpdate(artifactUpdate);
  switch (kind) {
    case "task":
      return readTask(value);
    case "message":
      return readMessage(value);
    case "status-update":
      return readStatus(value);
    case "artifact-update":
      return readArtifactUpdate(value);
    default:
      // The task itself is the result of GetTask and CancelTask.
      if (isObject(value["status"]) && typeof value["id"] === "string") return readTask(value);
      throw unreadable();
  }
};

type Fields = { readonly [field: string]: unknown };

const unreadable = (): RemoteAgentError => new RemoteAgentError("It sent something that is not A2A.");

const readTask = (task: Fields): RemoteItem => {
  const { state, says } = readState(task["status"]);
  return {
    type: "task",
    task: readId(task["id"]),
    context: readId(task["contextId"]),
    state,
    says: says.length > 0 ? says : lastWords(task["history"]),
    artifacts: listOf(task["artifacts"]).flatMap((each) => (isObject(each) ? [readArtifact(each)] : [])),
  };
};

/** The last message of the agent, for agents that answer in messages. */
const lastWords = (history: unknown): readonly RemotePart[] => {
  const last = listOf(history).at(-1);
  return isObject(last) && /agent$/i.test(String(last["role"])) ? readParts(last["parts"]) : [];
};

const readMessage = (message: Fields): RemoteItem => ({
  type: "message",
  task: readId(message["taskId"]),
  context: readId(message["contextId"]),
  parts: readParts(message["parts"]),
});

const readStatus = (update: Fields): RemoteItem => ({
  type: "status",
  task: readId(update["taskId"]),
  context: readId(update["contextId"]),
  ...readState(update["status"]),
});

const readArtifactUpdate = (update: Fields): RemoteItem => {
  const { artifact, append } = update;
  if (!isObject(artifact)) throw unreadable();
  return {
    type: "artifact",
    task: readId(update["taskId"]),
    context: readId(update["contextId"]),
    artifact: readArtifact(artifact),
    append: append === true,
  };
};

const readArtifact = ({ artifactId, name, parts }: Fields): RemoteArtifact => ({
  id: typeof artifactId === "string" ? artifactId : "",
  ...(typeof name === "string" && name !== "" ? { name } : {}),
  parts: joinTexts(readParts(parts)),
});

/** Texts of an artifact in a row are one: an answer often comes word by word. */
export const joinTexts = (parts: readonly RemotePart[]): readonly RemotePart[] => {
  const joined: RemotePart[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (part.type === "text" && last?.type === "text")
      joined[joined.length - 1] = { type: "text", text: last.text + part.text };
    else joined.push(part);
  }
  return joined;
};

const readState = (status: unknown): { readonly state: RemoteState; readonly says: readonly RemotePart[] } => {
  if (!isObject(status)) throw unreadable();
  const text = String(status["state"])
    .replace(/^TASK_STATE_/, "")
    .toLowerCase()
    .replaceAll("_", "-");
  const state = states.find((each) => each === text);
  if (state === undefined) throw new RemoteAgentError(`Its task is in the unknown state "${text.slice(0, 40)}".`);
  const { message } = status;
  return { state, says: isObject(message) ? readParts(message["parts"]) : [] };
};

const states: readonly RemoteState[] = [
  "submitted",
  "working",
  "input-required",
  "auth-required",
  "completed",
  "failed",
  "canceled",
  "rejected",
];

/** An id is sent back as it came, so it must be a short text. */
const readId = (value: unknown): string | undefined => {
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value !== "string" || value.length > 512) throw unreadable();
  return value;
};

const readParts = (value: unknown): readonly RemotePart[] =>
  listOf(value)
    .slice(0, maxParts)
    .flatMap((part) => (isObject(part) ? readPart(part) : []));

const maxParts = 10_000;

const readPart = (part: Fields): readonly RemotePart[] => {
  const file = isObject(part["file"]) ? part["file"] : undefined;
  const { text, data } = part;
  const base64 = file === undefined ? part["raw"] : (file["bytes"] ?? file["fileWithBytes"]);
  const url = file === undefined ? part["url"] : (file["uri"] ?? file["fileWithUri"]);
  const mediaType = file === undefined ? part["mediaType"] : (file["mimeType"] ?? file["mediaType"]);
  const name = file === undefined ? part["filename"] : file["name"];
  const about = {
    ...(typeof mediaType === "string" && mediaType !== "" ? { mediaType: mediaType.slice(0, 200) } : {}),
    ...(typeof name === "string" && name !== "" ? { name: name.slice(0, 200) } : {}),
  };
  if (typeof text === "string") return [{ type: "text", text }];
  if (typeof base64 === "string") return [{ type: "bytes", base64, ...about }];
  if (typeof url === "string") return [{ type: "url", url: url.slice(0, 4000), ...about }];
  return data === undefined ? [] : [{ type: "data", data }];
};

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
