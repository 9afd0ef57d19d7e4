import { isatty } from "node:tty";
import type { Agent, AgentEvent, EndReason } from "../agent/index.ts";
import type { UserPart } from "../conversation/index.ts";
import { plain } from "../policy/plain.ts";
import { readArguments, type Arguments } from "./arguments.ts";
import { chat } from "./chat-command.ts";
import { Failure, misused } from "./failure.ts";
import { openSession, prepare, refusing } from "./opening.ts";
import {
  jsonOutput,
  progress,
  streamOutput,
  textOutput,
  type Output,
  type RunFacts,
  type RunResult,
} from "./outputs.ts";
import { readPiped } from "./piped.ts";

/** `parley -p`: one task, or several from a stream, without a terminal. */
export const headless = async (args: readonly string[]): Promise<number> => {
  const given = readArguments(chat, args);
  const stopping = new AbortController();
  const inputs = await inputsOf(given, stopping.signal);
  const prepared = await prepare(given).catch(refusing);
  const listeners: ((event: AgentEvent) => void)[] = [];
  const listen = (event: AgentEvent): void => listeners.forEach((each) => each(event));
  const opened = await openSession(prepared, given, { interactive: false, listen }).catch(refusing);
  const { agent, session, chosen, notes, close } = opened;
  const say = (text: string): void => void process.stderr.write(`parley: ${plain(text)}\n`);
  for (const note of notes) say(note);
  if (chosen.by === "none")
    say(
      "no key was found, so the built-in offline model answers. Set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or see parley doctor.",
    );
  const { provider, model } = agent.model();
  const output = outputFor(given, { session: session.id, model: `${provider.id}/${model}`, folder: prepared.folder });
  const tally = new Tally(prepared.world.clock.elapsed());
  listeners.push(output.event, tally.hear, ...reporters(given));
  const signals = onSignals(() => {
    // First by the person, so that calls are told apart from those that end with the program.
    void agent.cancel();
    stopping.abort();
  });
  try {
    // Whether there is a sandbox is found out with the tools; who requires one is told before anything is sent.
    if (given.has("sandbox") || given.value("sandbox-network") === "off") await opened.services().catch(refusing);
    for await (const { piped, text } of inputs) {
      const { parts, told } = await opened.attach(text, stopping.signal);
      for (const each of told) say(each);
      for await (const _ of agent.send(before(piped, parts), stopping.signal));
      if (tally.end?.type !== "finished") break;
    }
  } catch (error) {
    if (!stopping.signal.aborted && !(error instanceof Failure)) throw error;
    if (error instanceof Failure) tally.fault = error;
  } finally {
    signals.stop();
    await close();
  }
  if (stopping.signal.aborted) tally.end = { type: "cancelled" };
  const result = tally.result(agent, prepared.world.clock.elapsed());
  output.end(result);
  if (result.error !== undefined) say(result.error.message);
  return tally.fault?.code ?? exitCode(tally.end, result);
};

/** Something to do. What was piped in is matter to work on: it mentions no files. */
type Input = { readonly piped: string; readonly text: string };

/** A message with what was piped in before its words. */
const before = (piped: string, [words, ...files]: readonly UserPart[]): readonly UserPart[] => {
  const said = words?.type === "text" ? words.text : "";
  return [{ type: "text", text: [piped, said].filter((text) => text !== "").join("\n\n") }, ...files];
};

/** What is to be done: given, piped in, or both; or a message per line. */
const inputsOf = async (given: Arguments, signal: AbortSignal): Promise<AsyncIterable<Input> | readonly Input[]> => {
  const [word] = given.words;
  const asked = given.value("prompt") ?? word ?? "";
  if (given.value("input-format") === "stream-json") return streamed(asked, signal);
  const piped = isatty(0) ? "" : (await readPiped(asked === "")).trimEnd();
  if (piped === "" && asked === "") throw misused('There is nothing to do. Say what: parley -p "TEXT".');
  return [{ piped, text: asked }];
};

/** Messages as `{"type":"user","text":"..."}`, one per line. */
const streamed = async function* (first: string, signal: AbortSignal): AsyncGenerator<Input> {
  if (first !== "") yield { piped: "", text: first };
  const { createInterface } = await import("node:readline");
  for await (const line of createInterface({ input: process.stdin, signal }))
    if (line.trim() !== "") yield { piped: "", text: messageIn(line) };
};

const messageIn = (line: string): string => {
  const said: unknown = parsed(line);
  if (
    typeof said === "object" &&
    said !== null &&
    "type" in said &&
    said.type === "user" &&
    "text" in said &&
    typeof said.text === "string"
  )
    return said.text;
  throw new Failure(`A line of the input is not {"type":"user","text":"..."}: ${line.slice(0, 80)}`);
};

const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
};

const outputFor = (given: Arguments, facts: RunFacts): Output => {
  const out = (text: string): void => void process.stdout.write(text);
  const writers = { out, now: Date.now };
  switch (given.value("output-format")) {
    case "json":
      return jsonOutput(writers, facts);
    case "stream-json":
      return streamOutput(writers, facts);
    default:
      // What a model wrote may do nothing to a terminal but appear in it; a file or a program gets it as it is.
      return textOutput({ ...writers, out: isatty(1) ? (text) => out(plain(text)) : out });
  }
};

const reporters = (given: Arguments): readonly ((event: AgentEvent) => void)[] => {
  const err = (text: string): void => void process.stderr.write(text);
  return [...(isatty(2) ? [progress(err)] : []), ...(given.has("explain") ? [explaining(err)] : [])];
};

const explaining =
  (err: (text: string) => void) =>
  (event: AgentEvent): void => {
    if (event.type === "request") err(`${JSON.stringify({ ...event.request, report: event.report })}\n`);
  };

/** Adds up what a run did. */
class Tally {
  end: Extract<AgentEvent, { type: "finished" | "failed" | "cancelled" }> | undefined;
  /** What was wrong with what was to be done next. */
  fault: Failure | undefined;
  readonly #began: number;
  #calls = 0;
  #failed = 0;

  constructor(began: number) {
    this.#began = began;
  }

  readonly hear = (event: AgentEvent): void => {
    if (event.type === "finished" || event.type === "failed" || event.type === "cancelled") this.end = event;
    if (event.type !== "call-completed") return;
    this.#calls += 1;
    if (event.finished.outcome.status !== "complete") this.#failed += 1;
  };

  result(agent: Agent, now: number): RunResult {
    const { end, fault } = this;
    return {
      ...(fault === undefined ? ending(end) : badInput(fault)),
      response: end?.type === "finished" ? end.text : "",
      spent: agent.spent(),
      calls: { total: this.#calls, failed: this.#failed },
      duration: now - this.#began,
    };
  }
}

const badInput = ({ message }: Failure): ReturnType<typeof ending> => ({
  status: "error",
  reason: "bad-input",
  error: { type: "bad-input", message },
});

const ending = (end: Tally["end"]): Pick<RunResult, "status" | "reason" | "error"> => {
  switch (end?.type) {
    case "finished":
      return isGood(end.reason)
        ? { status: "success", reason: end.reason }
        : {
            status: "error",
            reason: end.reason,
            error: { type: end.reason, message: limitWords[end.reason] ?? end.reason },
          };
    case "failed":
      return {
        status: "error",
        reason: "failed",
        error: {
          type: end.failure.kind === "provider" ? end.failure.failure.kind : end.failure.kind,
          message: end.failure.message,
        },
      };
    case "cancelled":
    case undefined:
      return { status: "cancelled", reason: "cancelled" };
  }
};

const isGood = (reason: EndReason): boolean => reason === "stop" || reason === "other" || reason === "paused";

const limitWords: { readonly [reason in EndReason]?: string } = {
  "max-turns": "Stopped at the limit of requests (--max-turns). Raise it, or continue with parley --continue.",
  "max-spend": "The task cost as much as it may. Raise limits.spend in the settings, or go on with another model.",
  loop: "The model did the same thing over and over, so it was stopped. Say it differently, or use another model.",
  length: "The answer reached its length limit and is not complete.",
  filtered: "A content filter stopped the answer. Say it differently, or use another model.",
  refused: "The model declined to answer.",
};

const exitCode = (end: Tally["end"], { status, reason }: RunResult): number => {
  if (status === "success") return 0;
  if (status === "cancelled") return 130;
  if (end?.type === "finished") return reason === "max-turns" || reason === "max-spend" || reason === "loop" ? 53 : 1;
  const kind = end?.type === "failed" && end.failure.kind === "provider" ? end.failure.failure.kind : undefined;
  return kind === "no-key" || kind === "bad-key" || kind === "misconfigured" ? 41 : 1;
};

/** Ctrl-C once ends the run and leaves a clean session; twice ends the program. */
const onSignals = (cancel: () => void): { readonly stop: () => void } => {
  let count = 0;
  const hear = (): void => {
    count += 1;
    if (count > 1) process.exit(130);
    cancel();
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, hear);
  return { stop: () => signals.forEach((signal) => process.off(signal, hear)) };
};
