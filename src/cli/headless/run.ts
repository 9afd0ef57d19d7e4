import { isatty } from "node:tty";
import type { AgentEvent } from "../../agent/events.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import { createRedactor, type Redactor } from "../../policy/secrets/redact.ts";
import type { Environment } from "../../world/world.ts";
import { parseArguments, type Arguments } from "../parse-arguments.ts";
import { chatCommand } from "../chat/command.ts";
import { UserError } from "../user-error.ts";
import { watchCancellation } from "./cancellation.ts";
import { prependPipedInput, readInputs } from "./input.ts";
import { startFailureResult, exitCodeFor, ResultCollector } from "./result.ts";
import { openChatSession, loadRunEnvironment, rethrowAsUserError } from "../chat/open-session.ts";
import {
  createJsonOutput,
  createProgressReporter,
  createStreamOutput,
  createTextOutput,
  type HeadlessOutput,
  type PermissionDenial,
  type RunInfo,
} from "./output.ts";

/** `parley -p`: one task, or several from a stream, without a terminal. */
export const runHeadless = async (args: readonly string[]): Promise<number> => {
  const reports: HeadlessOutput[] = [];
  try {
    return await runTask(args, reports);
  } catch (error) {
    // Whoever reads JSON gets an object for a run that failed before it began, too.
    const facts = { session: undefined, model: undefined, folder: "" };
    (reports[0] ?? createOutput(outputFormatFrom(args), facts)).end(startFailureResult(error));
    throw error;
  }
};

/** Runs the task; what is to report its end goes into `reports` as soon as it is there. */
const runTask = async (args: readonly string[], reports: HeadlessOutput[]): Promise<number> => {
  const given = parseArguments(chatCommand, args);
  const end = watchCancellation();
  const inputs = await readInputs(given, end.signal);
  const prepared = await loadRunEnvironment(given).catch(rethrowAsUserError);
  const listeners: ((event: AgentEvent) => void)[] = [];
  const listen = (event: AgentEvent): void => listeners.forEach((each) => each(event));
  const opened = await openChatSession(prepared, given, {
    interactive: false,
    onEvent: listen,
    onProgress: writeNotice,
  }).catch(rethrowAsUserError);
  const { agent, session, modelChoice: chosen, notes, close } = opened;
  for (const note of notes) writeNotice(note);
  if (chosen.by === "none")
    writeNotice(
      "no API key found, so the built-in demo model answers. Set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or see parley doctor.",
    );
  const { provider, model } = agent.model();
  const facts = { session: session.id, model: `${provider.id}/${model}`, folder: prepared.folder };
  const output = createOutput(given.value("output-format"), facts);
  reports.push(output);
  const tally = new ResultCollector(prepared.world.clock.elapsed());
  listeners.push(output.onEvent, tally.record, ...createReporters(given));
  // First by the person, so that calls are told apart from those that end with the program.
  end.onCancel(() => void agent.cancel());
  try {
    // Whether there is a sandbox is found out with the tools; who requires one is told before anything is sent.
    if (given.has("sandbox") || given.value("sandbox-network") === "off")
      await opened.services().catch(rethrowAsUserError);
    for await (const { piped, text } of inputs) {
      const { parts, messages: told } = await opened.attach(text, end.signal);
      for (const each of told) writeNotice(each);
      for await (const _ of agent.send(prependPipedInput(piped, parts), end.signal));
      if (tally.end?.type !== "finished") break;
    }
  } catch (error) {
    if (!end.signal.aborted && !(error instanceof UserError)) throw error;
    if (error instanceof UserError) tally.inputError = error;
  } finally {
    await close();
  }
  const cancelledBy = end.stop();
  if (cancelledBy !== undefined) tally.end = { type: "cancelled" };
  const result = tally.result(agent.usageTotals(), prepared.world.clock.elapsed());
  output.end(result);
  reportDenials(result.denials);
  if (result.error !== undefined) writeNotice(result.error.message);
  if (result.report !== undefined)
    writeNotice(`See the request and its report: parley render ${session.id} --for ${result.report.target} --explain`);
  return tally.inputError?.code ?? exitCodeFor(tally.end, result, cancelledBy);
};

const writeNotice = (text: string): void => void process.stderr.write(`parley: ${sanitizeForTerminal(text)}\n`);

/** Says which calls were not run, and the options that would allow each. */
const reportDenials = (denials: readonly PermissionDenial[]): void => {
  if (denials.length === 0) return;
  writeNotice(
    denials.length === 1 ? "1 call was not allowed to run:" : `${denials.length} calls were not allowed to run:`,
  );
  const lines = denials.map(({ tool, parameters, reason, allowedBy }) => {
    const words = JSON.stringify(parameters);
    const what = `${tool} ${words.length > 120 ? `${words.slice(0, 119).toWellFormed()}…` : words}`;
    return `  ${what}: ${allowedBy.length === 0 ? reason : `allow it with ${allowedBy.join(" and ")}`}`;
  });
  for (const line of new Set(lines)) process.stderr.write(`${sanitizeForTerminal(line)}\n`);
};

/** The output format in words that may not be understood otherwise. */
const outputFormatFrom = (args: readonly string[]): string | undefined => {
  const at = args.findIndex((word) => word === "-o" || word === "--output-format");
  return at === -1 ? args.findLast((word) => word.startsWith("--output-format="))?.slice(16) : args[at + 1];
};

const createOutput = (format: string | undefined, facts: RunInfo): HeadlessOutput => {
  // Nothing is written to a reader that is gone.
  const out = (text: string): void => void (process.stdout.destroyed || process.stdout.write(text));
  const writers = { out, now: Date.now };
  switch (format) {
    case "json":
      return createJsonOutput(writers, facts);
    case "stream-json":
      return createStreamOutput({ ...writers, redact: createLazyRedactor(process.env) }, facts);
    default:
      // What a model wrote may do nothing to a terminal but appear in it; a file or a program gets it as it is.
      return createTextOutput({ ...writers, out: isatty(1) ? (text) => out(sanitizeForTerminal(text)) : out });
  }
};

/** Made when first needed: a run without tools needs none. */
const createLazyRedactor = (env: Environment): ((text: string) => string) => {
  let redactor: Redactor | undefined;
  return (text) => (redactor ??= createRedactor({ env })).redact(text);
};

const createReporters = (given: Arguments): readonly ((event: AgentEvent) => void)[] => {
  const err = (text: string): void => void process.stderr.write(text);
  return [
    ...(isatty(2) ? [createProgressReporter(err)] : []),
    ...(given.has("explain") ? [createRequestReporter(err)] : []),
  ];
};

const createRequestReporter =
  (err: (text: string) => void) =>
  (event: AgentEvent): void => {
    if (event.type === "request") err(`${JSON.stringify({ ...event.request, report: event.report })}\n`);
  };
