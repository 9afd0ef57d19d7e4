import type { SimModelRequest, RequestTurn, ModelReply, ReplyPart } from "./types.ts";

/** What a scripted model says, and when. The first rule that fits and has something left to say speaks. */
export type Script = { readonly rules: readonly ScriptRule[]; readonly otherwise?: ScriptReply };

/** When a rule fits: all conditions hold. `asked` and `system` are words to find, or `/a pattern/flags`. */
export type ScriptRule = {
  /** In what the user asked. Files and steering that follow while tools run do not count as asking anew. */
  readonly asked?: string;
  readonly system?: string;
  /** Name of a tool that is offered. */
  readonly tool?: string;
  readonly model?: string;
  /** The answer to the question, then the answer to the results of its calls, and so on. */
  readonly replies: readonly ScriptReply[];
};

/** One answer: a thought, words, calls, in this order. `parts` instead gives any other order. */
export type ScriptReply = {
  readonly think?: string;
  readonly say?: string;
  readonly call?: ScriptCall | readonly ScriptCall[];
  readonly parts?: readonly ReplyPart[];
  readonly finish?: Exclude<ModelReply["finish"], undefined>;
  /** The server fails instead. */
  readonly error?: ScriptError;
};

export type ScriptCall = { readonly tool: string; readonly input: unknown };
export type ScriptError = { readonly status: number; readonly message: string };

/**
 * What the script answers; undefined where it has nothing to say.
 *
 * Which reply it is follows from the request alone, so a retry, or another
 * provider that gets the same conversation, hears the same.
 */
export const selectReply = (script: Script, heard: SimModelRequest): ScriptReply | undefined => {
  for (const rule of script.rules) {
    if (!matchesConditions(rule, heard)) continue;
    const asked = findPromptTurn(rule, heard.turns);
    const reply = asked === undefined ? undefined : rule.replies[countRepliesAfter(heard.turns, asked)];
    if (reply !== undefined) return reply;
  }
  return script.otherwise;
};

/** The parts of a reply in the order they are said. */
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

const matchesConditions = ({ system, tool, model }: ScriptRule, heard: SimModelRequest): boolean =>
  (system === undefined || matchesText(system, heard.system)) &&
  (tool === undefined || heard.tools.some(({ name }) => name === tool)) &&
  (model === undefined || matchesText(model, heard.model));

/** Where the turn stands that the rule answers: the latest that fits, within what the user asked last. */
const findPromptTurn = ({ asked }: ScriptRule, turns: readonly RequestTurn[]): number | undefined => {
  const begin = startOfLoop(turns);
  if (asked === undefined) return begin;
  const at = turns.findLastIndex(
    (turn, index) => index >= begin && turn.by === "user" && matchesText(asked, turn.text),
  );
  return at === -1 ? undefined : at;
};

/** A user who speaks after results, or after himself, is still in the same loop. */
const startOfLoop = (turns: readonly RequestTurn[]): number => {
  const at = turns.findLastIndex((turn, index) => {
    const before = turns.slice(0, index).findLast((other) => !isBridge(other));
    return turn.by === "user" && (before === undefined || before.by === "model");
  });
  return Math.max(0, at);
};

const countRepliesAfter = (turns: readonly RequestTurn[], index: number): number =>
  turns.slice(index).filter((turn) => turn.by === "model" && !isBridge(turn)).length;

/** Some APIs need a turn between results and files. It holds a full stop, and nobody said it. */
const isBridge = (turn: RequestTurn): boolean =>
  turn.by === "model" && turn.calls.length === 0 && turn.text.trim() === ".";

const matchesText = (words: string, text: string): boolean => parsePattern(words)?.test(text) ?? text.includes(words);

/** The pattern that words in slashes stand for. Throws when it is not valid. */
export const parsePattern = (words: string): RegExp | undefined => {
  const [, source, flags] = /^\/(.+)\/([a-z]*)$/s.exec(words) ?? [];
  return source === undefined ? undefined : new RegExp(source, flags);
};
