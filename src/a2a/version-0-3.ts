import { isObject, type JsonObject } from "../conversation/json.ts";
import {
  isInterrupted,
  type A2aArtifact,
  type A2aMessage,
  type A2aPart,
  type A2aStatus,
  type A2aStreamItem,
  type A2aTask,
} from "./protocol.ts";

/* A2A 0.3, which Gemini CLI's remote agents speak: the same operations, with other names and `kind` fields. */

/** The method of 1.0 for one of 0.3; undefined if it has none. */
export const methodsOf03: Readonly<Record<string, string>> = {
  "message/send": "SendMessage",
  "message/stream": "SendStreamingMessage",
  "tasks/get": "GetTask",
  "tasks/cancel": "CancelTask",
  "tasks/resubscribe": "SubscribeToTask",
  "tasks/pushNotificationConfig/set": "CreateTaskPushNotificationConfig",
  "tasks/pushNotificationConfig/get": "GetTaskPushNotificationConfig",
  "tasks/pushNotificationConfig/list": "ListTaskPushNotificationConfigs",
  "tasks/pushNotificationConfig/delete": "DeleteTaskPushNotificationConfig",
  "agent/getAuthenticatedExtendedCard": "GetExtendedAgentCard",
};

/** Parameters of 0.3 as those of 1.0. */
export const paramsFrom03 = (params: unknown): unknown => {
  if (!isObject(params) || !isObject(params["message"])) return params;
  const { message } = params;
  const parts: readonly unknown[] = Array.isArray(message["parts"]) ? message["parts"] : [];
  return { ...params, message: { ...message, role: "ROLE_USER", parts: parts.map(partFrom03) } };
};

const partFrom03 = (part: unknown): unknown => {
  if (!isObject(part)) return part;
  const { kind, text, data, file } = part;
  if (kind === "text") return { text };
  if (kind === "data") return { data };
  if (kind !== "file" || !isObject(file)) return part;
  return {
    ...(file["bytes"] === undefined ? { url: file["uri"] } : { raw: file["bytes"] }),
    ...(file["mimeType"] === undefined ? {} : { mediaType: file["mimeType"] }),
    ...(file["name"] === undefined ? {} : { filename: file["name"] }),
  };
};

export const taskTo03 = ({ id, contextId, status, artifacts = [], history = [] }: A2aTask): JsonObject => ({
  kind: "task",
  id,
  contextId,
  status: statusTo03(status),
  artifacts: artifacts.map(artifactTo03),
  history: history.map(messageTo03),
});

/** An item of a stream. `final` says that nothing follows. */
export const itemTo03 = (item: A2aStreamItem): JsonObject => {
  if ("task" in item) return taskTo03(item.task);
  if ("statusUpdate" in item) {
    const { taskId, contextId, status } = item.statusUpdate;
    return { kind: "status-update", taskId, contextId, status: statusTo03(status), final: isInterrupted(status.state) };
  }
  const { taskId, contextId, artifact, append, lastChunk } = item.artifactUpdate;
  return { kind: "artifact-update", taskId, contextId, artifact: artifactTo03(artifact), append, lastChunk };
};

const statusTo03 = ({ state, message, timestamp }: A2aStatus): JsonObject => ({
  state: state.replace("TASK_STATE_", "").toLowerCase().replaceAll("_", "-"),
  ...(message === undefined ? {} : { message: messageTo03(message) }),
  timestamp,
});

const messageTo03 = ({ messageId, role, parts, contextId, taskId }: A2aMessage): JsonObject => ({
  kind: "message",
  messageId,
  role: role === "ROLE_USER" ? "user" : "agent",
  parts: parts.map(partTo03),
  ...(contextId === undefined ? {} : { contextId }),
  ...(taskId === undefined ? {} : { taskId }),
});

const artifactTo03 = ({ artifactId, name, description, parts }: A2aArtifact): JsonObject => ({
  artifactId,
  ...(name === undefined ? {} : { name }),
  ...(description === undefined ? {} : { description }),
  parts: parts.map(partTo03),
});

const partTo03 = ({ text, raw, url, data, mediaType, filename }: A2aPart): JsonObject => {
  if (text !== undefined) return { kind: "text", text };
  // The data of a part is an object in 0.3.
  if (data !== undefined) return { kind: "data", data: isObject(data) ? (data as JsonObject) : { value: data } };
  return {
    kind: "file",
    file: {
      ...(raw === undefined ? { uri: url ?? "" } : { bytes: raw }),
      ...(mediaType === undefined ? {} : { mimeType: mediaType }),
      ...(filename === undefined ? {} : { name: filename }),
    },
  };
};
