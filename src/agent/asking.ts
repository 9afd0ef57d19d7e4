import type { NewPart } from "../conversation/ledger.ts";
import type { Transport, TransportEvent } from "../transport/transport.ts";
import { AnswerBuilder, type Answer } from "../wire/answer.ts";
import type { Settings } from "../wire/wire.ts";
import type { Clock } from "../world/world.ts";
import type { Compositions, Written } from "./compositions.ts";
import type { AgentEvent } from "./events.ts";
import { modelName, type ModelRef } from "./model-name.ts";
import { RepeatedText } from "./repetition.ts";
import { ThoughtSubjects } from "./thought-subject.ts";

/** Milliseconds a request has to leave before anything else is done. */
export const leaving = 30;

/** Asks the person whether the model should continue. */
export type Confirm = (question: string, signal: AbortSignal) => Promise<boolean>;

/** What one request needs. */
export type Asking = {
  readonly transport: Transport;
  readonly compositions: Compositions;
  readonly model: ModelRef;
  readonly settings: Settings;
  /** The how-manieth request of the conversation. */
  readonly number: number;
  /** Settles when the conversation is written down; nothing leaves before. */
  readonly kept: Promise<void>;
  readonly clock: Pick<Clock, "after">;
  /** The session, and the person's prompt a request belongs to. */
  readonly session?: string | undefined;
  readonly prompt?: string | undefined;
  readonly confirm?: Confirm | undefined;
  readonly tell: (event: AgentEvent) => void;
  readonly signal: AbortSignal;
};

/** What came of a request: an answer, with tools under our names; `circles` when it was left because it went in circles. */
export type Asked = Pick<Answer, "blobs" | "finish" | "usage"> & {
  readonly parts: readonly NewPart[];
  readonly written: Written;
  readonly circles: boolean;
  /** Who was asked. */
  readonly model: ModelRef;
  /** Who answered, as the server calls it. */
  readonly answeredBy?: string;
};

/** An answer that broke off, and what was said of it. Its cause is what broke it. */
export class BrokenOff extends Error {
  readonly words: string;
  readonly written: Written | undefined;

  constructor(words: string, written: Written | undefined, cause: unknown) {
    super("The answer broke off.", { cause });
    this.words = words;
    this.written = written;
  }
}

/** Sends the conversation as it is to a model, and tells of its answer as it comes. Throws `BrokenOff`. */
export const ask = async (asking: Asking): Promise<Asked> => {
  const { transport, compositions, model, settings, kept, signal } = asking;
  const builder = new AnswerBuilder();
  let repeated: RepeatedText | undefined = new RepeatedText();
  const subjects = new ThoughtSubjects();
  let written: Written | undefined;
  let circles = false;
  // What will be asked for with the answer is found out while it is waited for.
  const inTime = asking.clock.after(leaving, () => void written?.digest());
  try {
    const events = transport.send(
      {
        ...model,
        session: asking.session,
        prompt: asking.prompt,
        ready: kept,
        write: (destination) => (written = compositions.write(destination, { ...settings, stream: true })).body,
      },
      signal,
    );
    for await (const event of events) {
      if (written === undefined) continue;
      if (isAnswer(event)) builder.add(event);
      tellOf(event, written, subjects, asking);
      if (event.type !== "text-delta" || repeated?.add(event.text) !== true) continue;
      circles = (await asking.confirm?.(repeatedText, signal)) !== true;
      if (circles) break;
      // The person lets this answer continue and is not asked about it again.
      repeated = undefined;
    }
  } catch (error) {
    throw new BrokenOff(builder.words, written, error);
  } finally {
    inTime();
  }
  const answer = circles ? circling(builder.words) : builder.answer();
  if (written === undefined || answer === undefined) throw new Error("The transport ended without an answer.");
  const named = written;
  return {
    ...answer,
    written,
    circles,
    model,
    ...(answer.model === undefined ? {} : { answeredBy: answer.model }),
    parts: answer.parts.map((part) => ours(part, named)),
  };
};

const repeatedText = "The answer has repeated the same text for thousands of characters. Let it continue?";

const circling = (words: string): Answer => ({
  parts: [{ type: "text", text: words }],
  blobs: {},
  finish: "other",
  skipped: 0,
});

const ours = (part: NewPart, { originalTool, originalInput }: Written): NewPart => {
  if (part.type !== "call") return part;
  const tool = originalTool(part.tool);
  return { ...part, tool, input: originalInput(tool, part.input) };
};

type AnswerPiece = Parameters<AnswerBuilder["add"]>[0];

const isAnswer = (event: TransportEvent): event is TransportEvent & AnswerPiece =>
  event.type !== "request" && event.type !== "retrying" && event.type !== "repaired";

/** What a front end hears of an answer on its way. */
const tellOf = (
  event: TransportEvent,
  written: Written,
  subjects: ThoughtSubjects,
  { tell, model, number, prompt }: Asking,
): void => {
  switch (event.type) {
    case "text-delta":
      return tell({ type: "text", text: event.text });
    case "thinking-delta":
      return tell({ type: "thought", ...subjects.add(event.text) });
    case "request": {
      const { attempt, url, bytes } = event;
      const { report } = written;
      const facts = { number, model: modelName(model), url, bytes, attempt };
      return tell({
        type: "request",
        request: prompt === undefined ? facts : { ...facts, promptId: prompt },
        report,
      });
    }
    case "retrying":
      return tell({ type: "retrying", failure: event.failure, delay: event.delay, discarded: false });
    case "repaired":
      return tell({ type: "notice", text: event.words });
    case "call-start":
    case "call-delta":
    case "part-end":
    case "usage":
    case "answering":
    case "finish":
    case "skipped":
  }
};
