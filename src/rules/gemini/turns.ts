import { type GeminiBodyContent, type GeminiBodyPart, type ContentRun, partsOf, pick, runsOf, textIn } from "./body.ts";
import { geminiModel } from "./models.ts";
import type { RuleTarget } from "../rule.ts";
import { type Check } from "../walk.ts";

const countText =
  "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";
const afterCallText = "Please ensure that function response turn comes immediately after a function call turn.";
const afterUserText =
  "Please ensure that function call turn comes immediately after a user turn or after a function response turn.";
const modelLastText = "Requests ending with a model turn are not supported.";

/** The calls of a model run and the responses of the user run after it. */
type GeminiExchange = {
  readonly calls: readonly GeminiBodyPart[];
  readonly responses: readonly GeminiBodyPart[];
  readonly answer: ContentRun | undefined;
};

const partsIn = (run: ContentRun | undefined, kind: string): readonly GeminiBodyPart[] =>
  run?.contents.flatMap((content) => content.parts.filter((part) => part.kind === kind)) ?? [];

/**
 * Yields every user run with the calls it has to answer, and a last exchange without one when the body ends with calls.
 */
function* exchangesOf(body: unknown, target: RuleTarget): Generator<GeminiExchange> {
  let calls: readonly GeminiBodyPart[] = [];
  for (const run of runsOf(body, target)) {
    if (run.side === "user") yield { calls, responses: partsIn(run, "functionResponse"), answer: run };
    calls = run.side === "model" ? partsIn(run, "functionCall") : [];
  }
  if (calls.length > 0) yield { calls, responses: [], answer: undefined };
}

/** Every call has a response in the turn after it. */
export const checkUnansweredCall: Check = (body, report, target) => {
  const { openCalls } = geminiModel(body, target);
  for (const { calls, responses, answer } of exchangesOf(body, target)) {
    if (responses.length >= calls.length) continue;
    if (openCalls && responses.length === 0 && answer !== undefined) continue;
    const answered = new Set(responses.map((response) => textIn(response.data, "id")));
    const open = calls.find((call) => !answered.has(textIn(call.data, "id"))) ?? calls[responses.length];
    if (open !== undefined) report(open.pointer, countText);
  }
};

/** Gemini 2 accepts a call that is followed by plain text; later models count the responses. */
export const checkOpenCall: Check = (body, report, target) => {
  if (!geminiModel(body, target).openCalls) return;
  for (const { calls, responses, answer } of exchangesOf(body, target)) {
    if (calls[0] !== undefined && responses.length === 0 && answer !== undefined)
      report(calls[0].pointer, `${countText} This is so from Gemini 3 on.`);
  }
};

/** Every response has a call in the turn before it. */
export const checkUnaskedResponse: Check = (body, report, target) => {
  for (const { calls, responses } of exchangesOf(body, target)) {
    if (responses.length <= calls.length) continue;
    const extra = responses[calls.length];
    if (extra !== undefined) report(extra.pointer, calls.length === 0 ? afterCallText : countText);
  }
};

/** The first content after the calls contains their responses. */
export const checkLateResponse: Check = (body, report, target) => {
  for (const { calls, responses, answer } of exchangesOf(body, target)) {
    const first = responses[0];
    if (calls.length === 0 || first === undefined || answer?.contents[0] === undefined) continue;
    if (!hasResponse(answer.contents[0])) report(first.pointer, afterCallText);
  }
};

/** One content contains the responses to the whole batch of calls. */
export const checkSplitResponses: Check = (body, report, target) => {
  if (!geminiModel(body, target).splitResponses) reportSplit(body, target, (pointer) => report(pointer, countText));
};

/** Gemini 2 accepts responses spread over several contents; later models need one content. */
export const checkSpreadResponses: Check = (body, report, target) => {
  if (geminiModel(body, target).splitResponses)
    reportSplit(body, target, (pointer) => report(pointer, `${countText} This is so from Gemini 3 on.`));
};

const reportSplit = (body: unknown, target: RuleTarget, report: (pointer: string) => void): void => {
  for (const { calls, responses, answer } of exchangesOf(body, target)) {
    const answering = answer?.contents.filter(hasResponse) ?? [];
    if (calls.length === 0 || responses.length > calls.length || answering.length < 2) continue;
    if (answering[1] !== undefined && answering[0] === answer?.contents[0]) report(answering[1].pointer);
  }
};

const hasResponse = (content: GeminiBodyContent): boolean =>
  content.parts.some((part) => part.kind === "functionResponse");

/** A response has the name of its call, and its id if it has one. Gemini answers a mismatch with an empty candidate. */
export const checkResponseMatch: Check = (body, report, target) => {
  if (!geminiModel(body, target).needsMatch) return;
  for (const { calls, responses } of exchangesOf(body, target)) {
    if (calls.length !== responses.length) continue;
    const hasIds = responses.every((response) => textIn(response.data, "id") !== undefined);
    const keyOf = (part: GeminiBodyPart): string => (hasIds ? identity(part) : (textIn(part.data, "name") ?? ""));
    const open = new Map<string, number>();
    for (const call of calls) open.set(keyOf(call), (open.get(keyOf(call)) ?? 0) + 1);
    for (const response of responses) {
      const left = open.get(keyOf(response)) ?? 0;
      if (left > 0) open.set(keyOf(response), left - 1);
      else
        report(
          response.data.pointer,
          `The function response ${identity(response)} matches no function call of the turn before it: the model answers with an empty candidate.`,
        );
    }
  }
};

const identity = (part: GeminiBodyPart): string =>
  JSON.stringify([textIn(part.data, "id") ?? "", textIn(part.data, "name") ?? ""]);

/** The conversation does not start with a call. */
export const checkCallFirst: Check = (body, report, target) => {
  const [first] = runsOf(body, target);
  const call = first?.side === "model" ? partsIn(first, "functionCall")[0] : undefined;
  if (call !== undefined) report(call.pointer, afterUserText);
};

/** Only some models accept a conversation that starts with the model. */
export const checkModelFirst: Check = (body, report, target) => {
  const [first] = runsOf(body, target);
  const content =
    first?.side === "model" && partsIn(first, "functionCall").length === 0 ? first.contents[0] : undefined;
  if (content !== undefined) report(content.pointer, "Please ensure that the conversation starts with a user turn.");
};

/** Calls belong in model contents, responses in user contents. */
export const checkMisplacedPart: Check = (body, report, target) => {
  for (const part of partsOf(body, target)) {
    if (part.kind === "functionCall" && part.role !== "model") report(part.pointer, afterUserText);
    if (part.kind === "functionResponse" && part.role === "model") report(part.pointer, afterCallText);
  }
};

/** The last turn is the user's. Another rule covers unanswered calls. */
export const checkModelLast: Check = (body, report, target) => {
  if (!geminiModel(body, target).endsWithUser) return;
  const last = lastModelContent(body, target);
  if (last !== undefined) report(last.pointer, modelLastText);
};

/** Older models continue a final model turn; newer ones refuse it. */
export const checkPrefill: Check = (body, report, target) => {
  if (geminiModel(body, target).endsWithUser) return;
  const last = lastModelContent(body, target);
  if (last !== undefined) report(last.pointer, `${modelLastText} This is so from Gemini 3.6 on.`);
};

const lastModelContent = (body: unknown, target: RuleTarget): GeminiBodyContent | undefined => {
  let last: ContentRun | undefined;
  for (const run of runsOf(body, target)) last = run;
  return last?.side === "model" && partsIn(last, "functionCall").length === 0 ? last.contents.at(-1) : undefined;
};

/** No part follows a response in its content. */
export const checkAfterResponse: Check = (body, report, target) => {
  if (geminiModel(body, target).loneResponses)
    reportFollowers(body, target, (part) => report(part.pointer, modelLastText));
};

/** Older models accept a part after a response in its content, but do not always read it. */
export const checkBesideResponse: Check = (body, report, target) => {
  if (geminiModel(body, target).loneResponses) return;
  reportFollowers(body, target, (part) =>
    report(
      part.pointer,
      "A part after a function response in the same content is refused from Gemini 3.6 on: use a content of its own.",
    ),
  );
};

const reportFollowers = (body: unknown, target: RuleTarget, report: (part: GeminiBodyPart) => void): void => {
  for (const run of runsOf(body, target)) {
    if (run.side === "model") continue;
    for (const { parts } of run.contents) {
      const start = parts.findIndex((part) => part.kind === "functionResponse");
      const follower = start < 0 ? undefined : parts.slice(start).find((part) => part.kind !== "functionResponse");
      if (follower !== undefined) report(follower);
    }
  }
};

/** The first call of every step of the current turn has a signature. */
export const checkMissingSignature: Check = (body, report, target) => {
  if (!geminiModel(body, target).needsSignature) return;
  for (const call of stepsOfCurrentTurn(body, target)) {
    if (pick(call, "thoughtSignature") !== undefined) continue;
    const position = /^contents\[(\d+)\]/.exec(call.path)?.[1] ?? "0";
    report(call.pointer, missingSignature(textIn(call.data, "name") ?? "", Number(position) + 1));
  }
};

const missingSignature = (name: string, position: number): string =>
  `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly. Additional data, function call \`default_api:${name}\`, position ${position}.`;

/** The first call of each model run after the last user content that is more than responses. */
const stepsOfCurrentTurn = (body: unknown, target: RuleTarget): readonly GeminiBodyPart[] => {
  let steps: GeminiBodyPart[] = [];
  for (const run of runsOf(body, target)) {
    if (run.side === "model") steps.push(...partsIn(run, "functionCall").slice(0, 1));
    else if (run.contents.some((content) => content.parts.some((part) => part.kind !== "functionResponse"))) steps = [];
  }
  return steps;
};

/** Call ids are unique in the conversation. */
export const checkRepeatedId: Check = (body, report, target) => {
  const seen = new Set<string>();
  for (const part of partsOf(body, target)) {
    const id = part.kind === "functionCall" ? textIn(part.data, "id") : undefined;
    if (id === undefined) continue;
    if (seen.has(id))
      report(part.data.pointer, `The call id ${JSON.stringify(id)} is used twice: other APIs refuse that.`);
    seen.add(id);
  }
};

/** Calls and responses without ids pair by order only; the guides of 3.7 and later call ids mandatory. */
export const checkMissingId: Check = (body, report, target) => {
  if (!geminiModel(body, target).needsMatch) return;
  for (const part of partsOf(body, target)) {
    if (part.kind !== "functionCall" && part.kind !== "functionResponse") continue;
    if (textIn(part.data, "id") !== undefined) continue;
    report(
      part.data.pointer,
      `The function ${part.kind === "functionCall" ? "call" : "response"} has no id. Gemini 3.7 and later ask for one, repeated in the function response.`,
    );
  }
};
