import { RemoteAgentError } from "./remote-agent-error.ts";
import { joinTexts, type RemoteArtifact, type RemoteItem, type RemotePart, type RemoteState } from "./read-items.ts";

/** A task of a remote agent, as its items tell it. */
export type RemoteTask = {
  readonly id: string | undefined;
  readonly context: string | undefined;
  /** "message" for an agent that answered without a task. */
  readonly state: RemoteState | "message";
  readonly says: readonly RemotePart[];
  readonly artifacts: ReadonlyMap<string, RemoteArtifact>;
  /** The length of everything it holds. */
  readonly size: number;
};

export const newRemoteTask: RemoteTask = {
  id: undefined,
  context: undefined,
  state: "submitted",
  says: [],
  artifacts: new Map(),
  size: 0,
};

/** Adds an item. One of another task is passed over. */
export const foldItem = (task: RemoteTask, item: RemoteItem): RemoteTask => {
  if (task.id !== undefined && item.task !== undefined && item.task !== task.id) return task;
  const known = { ...task, id: task.id ?? item.task, context: task.context ?? item.context };
  switch (item.type) {
    case "message":
      return limit({ ...known, state: task.id === undefined ? "message" : task.state, says: item.parts });
    case "status":
      return limit({ ...known, state: item.state, says: item.says });
    case "task":
      return limit({
        ...known,
        state: item.state,
        says: item.says,
        artifacts: new Map(item.artifacts.map((each) => [each.id, each])),
      });
    case "artifact": {
      const before = item.append ? task.artifacts.get(item.artifact.id) : undefined;
      const artifact =
        before === undefined
          ? item.artifact
          : { ...before, parts: joinTexts([...before.parts, ...item.artifact.parts]) };
      return limit({ ...known, artifacts: new Map(task.artifacts).set(artifact.id, artifact) }, item.artifact.parts);
    }
  }
};

const maxSize = 32 * 2 ** 20;
const maxArtifacts = 1000;

/** Adds the length of what came, and refuses more than a conversation can hold. */
const limit = (task: RemoteTask, added: readonly RemotePart[] = task.says): RemoteTask => {
  const size = task.size + added.reduce((sum, part) => sum + lengthOf(part), 0);
  if (size > maxSize || task.artifacts.size > maxArtifacts)
    throw new RemoteAgentError("It sent more than an answer may hold.");
  return { ...task, size };
};

const lengthOf = (part: RemotePart): number => {
  switch (part.type) {
    case "text":
      return part.text.length;
    case "bytes":
      return part.base64.length;
    case "url":
    case "data":
      return 100;
  }
};

/** Whether nothing more comes without the person. */
export const isSettled = ({ state }: RemoteTask): boolean => state !== "submitted" && state !== "working";

/** The text of parts, for people. */
export const textOf = (parts: readonly RemotePart[]): string =>
  parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
