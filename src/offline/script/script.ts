import type { ParsedRequest, DemoReply, DemoToolCall, DemoTurn } from "../api/parsed-request.ts";

/** Scripted replies: the first matching rule with a reply left, then the list, then `otherwise`. */
export type DemoScript = {
  readonly rules?: readonly DemoScriptRule[];
  /** The first answer of the conversation, the second, and so on. */
  readonly replies?: readonly ScriptedReply[];
  readonly otherwise?: ScriptedReply;
};

/** A rule with its conditions, all of which must hold. `prompt` and `system` are text to find, or `/a pattern/flags`. */
type DemoScriptRule = {
  readonly prompt?: string;
  readonly system?: string;
  /** Name of an offered tool. */
  readonly tool?: string;
  readonly model?: string;
  /** The answer to the prompt, then the answer to the results of its calls, and so on. */
  readonly replies: readonly ScriptedReply[];
};

/** A scripted answer (thinking, text, calls), or a server error. */
export type ScriptedReply = {
  readonly think?: string;
  readonly say?: string;
  readonly call?: DemoToolCall | readonly DemoToolCall[];
  readonly error?: { readonly status: number; readonly message: string };
};

/** Selects the scripted reply, by the request alone; undefined if the script has none left. */
export const selectScriptedReply = (
  { rules = [], replies = [], otherwise }: DemoScript,
  parsed: ParsedRequest,
): ScriptedReply | undefined => {
  for (const rule of rules) {
    const at = conditionsHold(rule, parsed) ? findPromptTurn(rule, parsed.turns) : -1;
    const reply = at === -1 ? undefined : rule.replies[answersIn(parsed.turns.slice(at))];
    if (reply !== undefined) return reply;
  }
  return replies[answersIn(parsed.turns)] ?? otherwise;
};

/** Converts a scripted reply. */
export const toDemoReply = ({ think, say, call }: ScriptedReply): DemoReply => ({
  ...(think === undefined ? {} : { thinking: think }),
  ...(say === undefined ? {} : { text: say }),
  ...(call === undefined ? {} : { calls: "tool" in call ? [call] : call }),
});

const conditionsHold = ({ system, tool, model }: DemoScriptRule, parsed: ParsedRequest): boolean =>
  (system === undefined || matchesText(system, parsed.system)) &&
  (model === undefined || matchesText(model, parsed.model)) &&
  (tool === undefined || parsed.tools.some(({ name }) => name === tool));

/** Finds the latest matching user text since the last final answer. */
const findPromptTurn = ({ prompt }: DemoScriptRule, turns: readonly DemoTurn[]): number => {
  const last = turns.findLastIndex(
    (turn, index) => turn.role === "model" && turn.exchanges.length === 0 && index < turns.length - 1,
  );
  const fits = (turn: DemoTurn): boolean =>
    turn.role === "user" && (prompt === undefined || turn.texts.some((text) => matchesText(prompt, text)));
  const at =
    prompt === undefined ? turns.findIndex((turn, index) => index > last && fits(turn)) : turns.findLastIndex(fits);
  return at > last ? at : -1;
};

const answersIn = (turns: readonly DemoTurn[]): number => turns.filter(({ role }) => role === "model").length;

const matchesText = (words: string, text: string): boolean => patternOf(words)?.test(text) ?? text.includes(words);

/** Compiles text in slashes as a pattern. Throws if it is invalid. */
export const patternOf = (words: string): RegExp | undefined => {
  const [, source, flags] = /^\/(.+)\/([a-z]*)$/s.exec(words) ?? [];
  return source === undefined ? undefined : new RegExp(source, flags);
};
