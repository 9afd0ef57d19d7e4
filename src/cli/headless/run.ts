import { isatty } from "node:tty";
import type { AgentEvent } from "../../agent/events.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import { createRedactor, type Redactor } from "../../policy/secrets/redact.ts";
import type { Environment } from "../../world/world.ts";
import type { Arguments } from "../command.ts";
import { parseArguments } from "../parse-arguments.ts";
import { chatCommand } from "../chat/command.ts";
import { UserError } from "../user-error.ts";
import { watchCancellation } from "./cancellation.ts";
import { prependPipedInput, readInputs } from "./input.ts";
import { startFailureResult, exitCodeFor, ResultCollector } from "./result.ts";
import { openChatSession, rethrowAsUserError } from "../chat/open-session.ts";
import { loadRunEnvironment } from "../run-environment.ts";
import {
  createJsonOutput,
  createProgressReporter,
  createStreamOutput,
  createTextOutput,
  type HeadlessOutput,
  type PermissionDenial,
  type RunInfo,
} from "./output.ts";

/** `parley -p`: runs one prompt, or several from a stream, without a terminal. */
export const runHeadless = async (argv: readonly string[]): Promise<number> => {
  const reports: HeadlessOutput[] = [];
  try {
    return await runPrompts(argv, reports);
  } catch (error) {
    // With a JSON format, a run that fails before it starts prints a result object, too.
    const info = { session: undefined, model: undefined, folder: "" };
    (reports[0] ?? createOutput(outputFormatFrom(argv), info)).end(startFailureResult(error));
    throw error;
  }
};

/** Runs the prompts. Adds the output to `reports` once it is created, so that the caller can report a failure to it. */
const runPrompts = async (argv: readonly string[], reports: HeadlessOutput[]): Promise<number> => {
  const args = parseArguments(chatCommand, argv);
  const cancellation = watchCancellation();
  const inputs = await readInputs(args, cancellation.signal);
  const environment = await loadRunEnvironment(args).catch(rethrowAsUserError);
  const listeners: ((event: AgentEvent) => void)[] = [];
  const onEvent = (event: AgentEvent): void => listeners.forEach((listener) => listener(event));
  const agentSession = await openChatSession(environment, args, {
    interactive: false,
    onEvent,
    onProgress: writeNotice,
  }).catch(rethrowAsUserError);
  const { settings } = environment.loaded;
  const { agent, session, modelChoice, notes, close } = agentSession;
  for (const note of notes) writeNotice(note);
  if (modelChoice.by === "none")
    writeNotice(
      "No API key found, using the built-in demo model. Set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or see parley doctor.",
    );
  const { provider, model } = agent.model();
  const info = { session: session.id, model: `${provider.id}/${model}`, folder: environment.folder };
  const output = createOutput(args.value("output-format"), info, environment.world.env);
  reports.push(output);
  const limits = { requests: settings["limits.maxTurns"], spend: settings["limits.spend"] };
  const collector = new ResultCollector(environment.world.clock.elapsed(), limits);
  listeners.push(output.onEvent, collector.record, ...createReporters(args));
  // Cancel as the user first, so that calls are recorded as cancelled and not as interrupted by the exit.
  cancellation.onCancel(() => void agent.cancel());
  try {
    // The sandbox is detected while tools are loaded. If one is required, fail before the first request.
    if (args.has("sandbox") || args.value("sandbox-network") === "off")
      await agentSession.services().catch(rethrowAsUserError);
    for await (const { piped, text } of inputs) {
      const send = async (prompt: string): Promise<void> => {
        const { parts, messages } = await agentSession.attach(prompt, cancellation.signal);
        for (const message of messages) writeNotice(message);
        for await (const _ of agent.send(prependPipedInput(piped, parts), cancellation.signal));
      };
      const { signal } = cancellation;
      const isCommand =
        text.startsWith("/") &&
        (await (
          await import("./prompt-command.ts")
        ).runPromptCommand(text, { environment, opened: agentSession, signal, notice: writeNotice, send }));
      if (!isCommand) await send(text);
      if (collector.end?.type !== "finished") break;
    }
  } catch (error) {
    if (!cancellation.signal.aborted && !(error instanceof UserError)) throw error;
    if (error instanceof UserError) collector.inputError = error;
  } finally {
    await close();
  }
  const cancelledBy = cancellation.stop();
  if (cancelledBy !== undefined) collector.end = { type: "cancelled" };
  const result = collector.result(agent.usageTotals(), environment.world.clock.elapsed());
  output.end(result);
  reportDenials(result.denials);
  if (result.error !== undefined) writeNotice(result.error.message);
  if (result.report !== undefined)
    writeNotice(`Show the request and its report: parley render ${session.id} --for ${result.report.target} --explain`);
  return collector.inputError?.code ?? exitCodeFor(collector.end, result, cancelledBy);
};

const writeWarnings = (event: AgentEvent): void => {
  if (event.type === "notice" && event.isWarning === true) writeNotice(event.text);
};

const writeNotice = (text: string): void => void process.stderr.write(`parley: ${sanitizeForTerminal(text)}\n`);

/** Prints the denied calls and the options that would allow each. */
const reportDenials = (denials: readonly PermissionDenial[]): void => {
  if (denials.length === 0) return;
  writeNotice(denials.length === 1 ? "1 tool call was denied:" : `${denials.length} tool calls were denied:`);
  const lines = denials.map(({ tool, parameters, reason, allowedBy }) => {
    const json = JSON.stringify(parameters);
    const call = `${tool} ${json.length > 120 ? `${json.slice(0, 119).toWellFormed()}…` : json}`;
    return `  ${call}: ${allowedBy.length === 0 ? reason : `allow it with ${allowedBy.join(" and ")}`}`;
  });
  for (const line of new Set(lines)) process.stderr.write(`${sanitizeForTerminal(line)}\n`);
};

/** Finds the output format in arguments that may be invalid otherwise. */
const outputFormatFrom = (argv: readonly string[]): string | undefined => {
  const at = argv.findIndex((word) => word === "-o" || word === "--output-format");
  return at === -1 ? argv.findLast((word) => word.startsWith("--output-format="))?.slice(16) : argv[at + 1];
};

const createOutput = (format: string | undefined, info: RunInfo, env: Environment = process.env): HeadlessOutput => {
  // Write nothing to a closed output.
  const out = (text: string): void => void (process.stdout.destroyed || process.stdout.write(text));
  const writers = { out, now: Date.now };
  switch (format) {
    case "json":
      return createJsonOutput(writers, info);
    case "stream-json":
      return createStreamOutput({ ...writers, redact: createLazyRedactor(env) }, info);
    default:
      // Sanitize the response for a terminal; a file or a program gets it unchanged.
      return createTextOutput({ ...writers, out: isatty(1) ? (text) => out(sanitizeForTerminal(text)) : out });
  }
};

/** Creates the redactor on first use: a run without tools needs none. */
const createLazyRedactor = (env: Environment): ((text: string) => string) => {
  let redactor: Redactor | undefined;
  return (text) => (redactor ??= createRedactor({ env })).redact(text);
};

const createReporters = (args: Arguments): readonly ((event: AgentEvent) => void)[] => {
  const err = (text: string): void => void process.stderr.write(text);
  return [
    isatty(2) ? createProgressReporter(err) : writeWarnings,
    ...(args.has("explain") ? [createRequestReporter(err)] : []),
  ];
};

const createRequestReporter =
  (err: (text: string) => void) =>
  (event: AgentEvent): void => {
    if (event.type === "request") err(`${JSON.stringify({ ...event.request, report: event.report })}\n`);
  };
