import type { ParsedRequest, DemoReply, DemoToolCall, DemoTurn } from "../api/parsed-request.ts";

/** What a scripted model says, and when: the first rule that fits and has something left to say, then the list, then `otherwise`. */
export type DemoScript = {
  readonly rules?: readonly DemoScriptRule[];
  /** The first answer of the conversation, the second, and so on. */
  readonly replies?: readonly ScriptedReply[];
  readonly otherwise?: ScriptedReply;
};

/** When a rule fits: all conditions hold. `asked` and `system` are words to find, or `/a pattern/flags`. */
type DemoScriptRule = {
  readonly asked?: string;
  readonly system?: string;
  /** Name of a tool that is offered. */
  readonly tool?: string;
  readonly model?: string;
  /** The answer to the question, then the answer to the results of its calls, and so on. */
  readonly replies: readonly ScriptedReply[];
};

/** One answer: a thought, words, calls; or a failure of the server. */
export type ScriptedReply = {
  readonly think?: string;
  readonly say?: string;
  readonly call?: DemoToolCall | readonly DemoToolCall[];
  readonly error?: { readonly status: number; readonly message: string };
};

/** What the script answers, by the request alone; undefined where it has nothing to say. */
export const selectScriptedReply = (
  { rules = [], replies = [], otherwise }: DemoScript,
  heard: ParsedRequest,
): ScriptedReply | undefined => {
  for (const rule of rules) {
    const at = conditionsHold(rule, heard) ? askedAt(rule, heard.turns) : -1;
    const reply = at === -1 ? undefined : rule.replies[answersIn(heard.turns.slice(at))];
    if (reply !== undefined) return reply;
  }
  return replies[answersIn(heard.turns)] ?? otherwise;
};

/** A reply as it is said. */
export const toDemoReply = ({ think, say, call }: ScriptedReply): DemoReply => ({
  ...(think === undefined ? {} : { thinking: think }),
  ...(say === undefined ? {} : { text: say }),
  ...(call === undefined ? {} : { calls: "tool" in call ? [call] : call }),
});

const conditionsHold = ({ system, tool, model }: DemoScriptRule, heard: ParsedRequest): boolean =>
  (system === undefined || matchesText(system, heard.system)) &&
  (model === undefined || matchesText(model, heard.model)) &&
  (tool === undefined || heard.tools.some(({ name }) => name === tool));

/** The latest fitting words of the person since the last answer that ended a request. */
const askedAt = ({ asked }: DemoScriptRule, turns: readonly DemoTurn[]): number => {
  const last = turns.findLastIndex(
    (turn, index) => turn.role === "model" && turn.exchanges.length === 0 && index < turns.length - 1,
  );
  const fits = (turn: DemoTurn): boolean =>
    turn.role === "user" && (asked === undefined || turn.texts.some((text) => matchesText(asked, text)));
  const at =
    asked === undefined ? turns.findIndex((turn, index) => index > last && fits(turn)) : turns.findLastIndex(fits);
  return at > last ? at : -1;
};

const answersIn = (turns: readonly DemoTurn[]): number => turns.filter(({ role: by }) => by === "model").length;

const matchesText = (words: string, text: string): boolean => patternOf(words)?.test(text) ?? text.includes(words);

/** The pattern that words in slashes stand for. Throws when it is not valid. */
export const patternOf = (words: string): RegExp | undefined => {
  const [, source, flags] = /^\/(.+)\/([a-z]*)$/s.exec(words) ?? [];
  return source === undefined ? undefined : new RegExp(source, flags);
};
