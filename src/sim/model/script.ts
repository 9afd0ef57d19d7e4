import type { SimModelRequest, RequestTurn, ModelReply, ReplyPart } from "./types.ts";

/** The replies of a scripted model. The first rule that matches and has a reply left is used. */
export type Script = { readonly rules: readonly ScriptRule[]; readonly otherwise?: ScriptReply };

/**
 * A rule and its replies. It matches when all its conditions do. `prompt`, `system` and `model` are text to find, or
 * `/a pattern/flags`.
 */
export type ScriptRule = {
  /** Matches the user's prompt. Files and messages that follow while tools run do not count as a new prompt. */
  readonly prompt?: string;
  readonly system?: string;
  /** Name of a declared tool. */
  readonly tool?: string;
  readonly model?: string;
  /** The reply to the prompt, then the reply to the results of its calls, and so on. */
  readonly replies: readonly ScriptReply[];
};

/** One reply: thinking, text and calls, in this order. `parts` allows any other order. */
export type ScriptReply = {
  readonly think?: string;
  readonly say?: string;
  readonly call?: ScriptCall | readonly ScriptCall[];
  readonly parts?: readonly ReplyPart[];
  readonly finish?: Exclude<ModelReply["finish"], undefined>;
  /** The server answers with this error instead. */
  readonly error?: ScriptError;
};

export type ScriptCall = { readonly tool: string; readonly input: unknown };
export type ScriptError = { readonly status: number; readonly message: string };

/**
 * Selects the script's reply to a request; undefined if no rule has one. The choice depends on the request alone, so a
 * retry, or another provider with the same conversation, gets the same reply.
 */
export const selectReply = (script: Script, modelRequest: SimModelRequest): ScriptReply | undefined => {
  for (const rule of script.rules) {
    if (!matchesConditions(rule, modelRequest)) continue;
    const turn = findPromptTurn(rule, modelRequest.turns);
    const reply = turn === undefined ? undefined : rule.replies[countRepliesAfter(modelRequest.turns, turn)];
    if (reply !== undefined) return reply;
  }
  return script.otherwise;
};

/** Converts a script's reply to a model reply. */
export const toModelReply = ({ think, say, call, parts, finish }: ScriptReply): ModelReply => ({
  parts: parts ?? [
    ...(think === undefined ? [] : [{ type: "think" as const, text: think }]),
    ...(say === undefined ? [] : [{ type: "say" as const, text: say }]),
    ...callsOf(call).map(({ tool, input }) => ({ type: "call" as const, tool, input })),
  ],
  ...(finish === undefined ? {} : { finish }),
});

const callsOf = (call: ScriptReply["call"]): readonly ScriptCall[] =>
  call === undefined ? [] : "tool" in call ? [call] : call;

const matchesConditions = ({ system, tool, model }: ScriptRule, modelRequest: SimModelRequest): boolean =>
  (system === undefined || matchesText(system, modelRequest.system)) &&
  (tool === undefined || modelRequest.tools.some(({ name }) => name === tool)) &&
  (model === undefined || matchesText(model, modelRequest.model));

/** Finds the turn that a rule answers: the latest one that matches, since the user's last prompt. */
const findPromptTurn = ({ prompt }: ScriptRule, turns: readonly RequestTurn[]): number | undefined => {
  const start = startOfLoop(turns);
  if (prompt === undefined) return start;
  const at = turns.findLastIndex(
    (turn, index) => index >= start && turn.by === "user" && matchesText(prompt, turn.text),
  );
  return at === -1 ? undefined : at;
};

/**
 * Finds where the current tool loop starts. A user turn after results, or after another user turn, belongs to the same
 * loop.
 */
const startOfLoop = (turns: readonly RequestTurn[]): number => {
  const at = turns.findLastIndex((turn, index) => {
    const before = turns.slice(0, index).findLast((other) => !isBridge(other));
    return turn.by === "user" && (before === undefined || before.by === "model");
  });
  return Math.max(0, at);
};

const countRepliesAfter = (turns: readonly RequestTurn[], index: number): number =>
  turns.slice(index).filter((turn) => turn.by === "model" && !isBridge(turn)).length;

/** True for the placeholder turn that some APIs need between results and files. Its text is a full stop. */
const isBridge = (turn: RequestTurn): boolean =>
  turn.by === "model" && turn.calls.length === 0 && turn.text.trim() === ".";

const matchesText = (pattern: string, text: string): boolean =>
  parsePattern(pattern)?.test(text) ?? text.includes(pattern);

/** Parses `/pattern/flags`; undefined for plain text. Throws when the pattern is not valid. */
export const parsePattern = (text: string): RegExp | undefined => {
  const [, source, flags] = /^\/(.+)\/([a-z]*)$/s.exec(text) ?? [];
  return source === undefined ? undefined : new RegExp(source, flags);
};
