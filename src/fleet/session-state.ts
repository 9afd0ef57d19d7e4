import { callOrdinal } from "../conversation/call-ids.ts";
import type { CallId } from "../conversation/parts.ts";
import type { JsonObject } from "../conversation/json.ts";
import type { StoredRecord } from "../session/log/record.ts";
import type { OpenQuestion } from "./service.ts";

/** The state of a session as its records tell it. */
export type LoggedState = {
  readonly sequence: number;
  readonly title: string;
  readonly folder: string;
  readonly model?: string;
  readonly created: number;
  readonly modified: number;
  /** The questions without a decision, in the order of their calls: calls are asked about side by side. */
  readonly questions: ReadonlyMap<CallId, OpenQuestion>;
  /** Whether the last turn has not ended: it runs, or its process ended before. */
  readonly isTurnOpen: boolean;
  /** The calls without a result. */
  readonly calls: ReadonlyMap<CallId, { readonly tool: string; readonly input?: JsonObject }>;
};

export const emptyState: LoggedState = {
  sequence: 0,
  title: "",
  folder: "",
  created: 0,
  modified: 0,
  questions: new Map(),
  isTurnOpen: false,
  calls: new Map(),
};

/** Adds a record to the state. */
export const foldRecord = (state: LoggedState, stored: StoredRecord): LoggedState => {
  const { record, sequence, at } = stored;
  const next = { ...state, sequence, modified: at };
  switch (record.kind) {
    case "head": {
      const { root, created, model } = record;
      return {
        ...next,
        folder: root,
        created,
        ...(model === undefined ? {} : { model: `${model.provider}/${model.model}` }),
      };
    }
    case "title":
      return { ...next, title: record.title };
    case "model":
      return { ...next, model: `${record.provider}/${record.model}` };
    case "asked": {
      const { call, approval, digest } = record;
      if (approval === undefined) return next;
      const { tool, input } = state.calls.get(call) ?? {};
      const question: OpenQuestion = {
        call,
        ...(tool === undefined ? {} : { tool }),
        ...(input === undefined ? {} : { input }),
        approval,
        ...(digest === undefined ? {} : { digest }),
      };
      const questions = [...new Map(state.questions).set(call, question)];
      return {
        ...next,
        questions: new Map(questions.toSorted(([one], [other]) => callOrdinal(one) - callOrdinal(other))),
      };
    }
    case "decided":
      // Another text is asked about again.
      return { ...next, isTurnOpen: true, questions: without(state.questions, record.call) };
    case "entry":
      return foldEntry(next, record.entry);
    case "turn":
      return { ...next, isTurnOpen: false };
    case "tools":
    case "input":
    case "request":
    case "todos":
    case "consent":
    case "repair":
    case "unknown":
      return next;
  }
};

type LoggedEntry = Extract<StoredRecord["record"], { kind: "entry" }>["entry"];

const foldEntry = (before: LoggedState, entry: LoggedEntry): LoggedState => {
  const isTurn = entry.type === "user" || entry.type === "model" || entry.type === "completion";
  const state = isTurn ? { ...before, isTurnOpen: true } : before;
  if (entry.type === "user" && state.title === "") {
    const words = entry.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(" ");
    return { ...state, title: Array.from(words.replaceAll(/\s+/g, " ").trim()).slice(0, 80).join("") };
  }
  if (entry.type === "model") {
    const calls = new Map(state.calls);
    for (const part of entry.parts)
      if (part.type === "call")
        calls.set(part.id, { tool: part.tool, ...(part.input.type === "parsed" ? { input: part.input.value } : {}) });
    const { provider, model } = entry.origin;
    return { ...state, calls, model: `${provider}/${model}` };
  }
  if (entry.type === "completion")
    return { ...state, calls: without(state.calls, entry.call), questions: without(state.questions, entry.call) };
  return state;
};

const without = <Value>(map: ReadonlyMap<CallId, Value>, key: CallId): ReadonlyMap<CallId, Value> => {
  if (!map.has(key)) return map;
  const left = new Map(map);
  left.delete(key);
  return left;
};
