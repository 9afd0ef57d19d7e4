import { isatty } from "node:tty";
import type { AgentEvent } from "../agent/events.ts";
import { plain } from "../policy/plain.ts";
import { createRedactor, type Redactor } from "../policy/redact.ts";
import type { Environment } from "../world/world.ts";
import { readArguments, type Arguments } from "./arguments.ts";
import { chat } from "./chat-command.ts";
import { Failure } from "./failure.ts";
import { watchEnd } from "./headless-end.ts";
import { before, inputsOf } from "./headless-input.ts";
import { earlyResult, exitCode, Tally } from "./headless-result.ts";
import { openSession, prepare, refusing } from "./opening.ts";
import {
  jsonOutput,
  progress,
  streamOutput,
  textOutput,
  type Output,
  type PermissionDenial,
  type RunFacts,
} from "./outputs.ts";

/** `parley -p`: one task, or several from a stream, without a terminal. */
export const headless = async (args: readonly string[]): Promise<number> => {
  const reports: Output[] = [];
  try {
    return await run(args, reports);
  } catch (error) {
    // Whoever reads JSON gets an object for a run that failed before it began, too.
    const facts = { session: undefined, model: undefined, folder: "" };
    (reports[0] ?? outputFor(formatIn(args), facts)).end(earlyResult(error));
    throw error;
  }
};

/** Runs the task; what is to report its end goes into `reports` as soon as it is there. */
const run = async (args: readonly string[], reports: Output[]): Promise<number> => {
  const given = readArguments(chat, args);
  const end = watchEnd();
  const inputs = await inputsOf(given, end.signal);
  const prepared = await prepare(given).catch(refusing);
  const listeners: ((event: AgentEvent) => void)[] = [];
  const listen = (event: AgentEvent): void => listeners.forEach((each) => each(event));
  const opened = await openSession(prepared, given, { interactive: false, listen, say }).catch(refusing);
  const { agent, session, chosen, notes, close } = opened;
  for (const note of notes) say(note);
  if (chosen.by === "none")
    say(
      "no API key found, so the built-in demo model answers. Set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or see parley doctor.",
    );
  const { provider, model } = agent.model();
  const facts = { session: session.id, model: `${provider.id}/${model}`, folder: prepared.folder };
  const output = outputFor(given.value("output-format"), facts);
  reports.push(output);
  const tally = new Tally(prepared.world.clock.elapsed());
  listeners.push(output.event, tally.hear, ...reporters(given));
  // First by the person, so that calls are told apart from those that end with the program.
  end.listen(() => void agent.cancel());
  try {
    // Whether there is a sandbox is found out with the tools; who requires one is told before anything is sent.
    if (given.has("sandbox") || given.value("sandbox-network") === "off") await opened.services().catch(refusing);
    for await (const { piped, text } of inputs) {
      const { parts, told } = await opened.attach(text, end.signal);
      for (const each of told) say(each);
      for await (const _ of agent.send(before(piped, parts), end.signal));
      if (tally.end?.type !== "finished") break;
    }
  } catch (error) {
    if (!end.signal.aborted && !(error instanceof Failure)) throw error;
    if (error instanceof Failure) tally.fault = error;
  } finally {
    await close();
  }
  const cancelledBy = end.done();
  if (cancelledBy !== undefined) tally.end = { type: "cancelled" };
  const result = tally.result(agent.spent(), prepared.world.clock.elapsed());
  output.end(result);
  reportDenials(result.denials);
  if (result.error !== undefined) say(result.error.message);
  if (result.report !== undefined)
    say(`See the request and its report: parley render ${session.id} --for ${result.report.target} --explain`);
  return tally.fault?.code ?? exitCode(tally.end, result, cancelledBy);
};

const say = (text: string): void => void process.stderr.write(`parley: ${plain(text)}\n`);

/** Says which calls were not run, and the options that would allow each. */
const reportDenials = (denials: readonly PermissionDenial[]): void => {
  if (denials.length === 0) return;
  say(denials.length === 1 ? "1 call was not allowed to run:" : `${denials.length} calls were not allowed to run:`);
  const lines = denials.map(({ tool, parameters, reason, allowedBy }) => {
    const words = JSON.stringify(parameters);
    const what = `${tool} ${words.length > 120 ? `${words.slice(0, 119).toWellFormed()}…` : words}`;
    return `  ${what}: ${allowedBy.length === 0 ? reason : `allow it with ${allowedBy.join(" and ")}`}`;
  });
  for (const line of new Set(lines)) process.stderr.write(`${plain(line)}\n`);
};

/** The output format in words that may not be understood otherwise. */
const formatIn = (args: readonly string[]): string | undefined => {
  const at = args.findIndex((word) => word === "-o" || word === "--output-format");
  return at === -1 ? args.findLast((word) => word.startsWith("--output-format="))?.slice(16) : args[at + 1];
};

const outputFor = (format: string | undefined, facts: RunFacts): Output => {
  // Nothing is written to a reader that is gone.
  const out = (text: string): void => void (process.stdout.destroyed || process.stdout.write(text));
  const writers = { out, now: Date.now };
  switch (format) {
    case "json":
      return jsonOutput(writers, facts);
    case "stream-json":
      return streamOutput({ ...writers, redact: redactorFor(process.env) }, facts);
    default:
      // What a model wrote may do nothing to a terminal but appear in it; a file or a program gets it as it is.
      return textOutput({ ...writers, out: isatty(1) ? (text) => out(plain(text)) : out });
  }
};

/** Made when first needed: a run without tools needs none. */
const redactorFor = (env: Environment): ((text: string) => string) => {
  let redactor: Redactor | undefined;
  return (text) => (redactor ??= createRedactor({ env })).redact(text);
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
