import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Conversation } from "../../conversation/entry.ts";
import { destinationOf, homeProviders, wireIds } from "../../providers/find.ts";
import { exportConversation } from "../../session/export/conversation.ts";
import { describeDamage } from "../../session/repair/damage.ts";
import { exportMarkdown } from "../../session/export/markdown.ts";
import type { ReadSession } from "../../session/store/store.ts";
import { summarizeSession } from "../../session/store/summary.ts";
import type { Arguments } from "../command.ts";
import { withProgress } from "../progress.ts";
import { UserError, usageError } from "../user-error.ts";
import { jsonChunks } from "../json/chunks.ts";
import { composeSessionRequest, sessionModel } from "./compose-request.ts";
import { listRequests } from "../../session/store/requests.ts";
import { pluralize, sessionIdFrom } from "../format.ts";
import { readSession, type SessionAction, type SessionsContext } from "./context.ts";
import { createRedactor } from "../../policy/secrets/redact.ts";
import { sanitizeLine } from "../text-table.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";

/** `parley sessions show`: prints a session as Markdown, sanitized if stdout is a terminal. */
export const showSession: SessionAction = async (context, args) => {
  const session = await readSession(context, sessionIdFrom(args));
  const isShown = args.value("output") === undefined && process.stdout.isTTY;
  const markdown = (): string => (isShown ? sanitizeForTerminal(exportMarkdown(session)) : exportMarkdown(session));
  return writeOutput(args, args.has("json") ? jsonDocument(await collectDetails(session)) : markdown());
};

/** `parley sessions export`: exports a session for other programs. */
export const exportSession: SessionAction = async (context, args) => {
  const id = sessionIdFrom(args);
  const format = parseFormat(args);
  const session = await readSession(context, id);
  switch (format.type) {
    case "json":
      return writeOutput(args, jsonDocument(exportConversation(session)));
    case "markdown":
      return writeOutput(args, exportMarkdown(session));
    case "html":
      return writeOutput(args, await composeHtml(context, session, args));
    case "claude":
    case "pi":
      return writeForAgent(args, session, format.type);
    case "body":
      return writeOutput(args, jsonDocument(composeBody(session, format)));
  }
};

/** Writes the session in another agent's form, and says where that agent looks for it. */
const writeForAgent = async (args: Arguments, session: ReadSession, agent: "claude" | "pi"): Promise<number> => {
  const file =
    agent === "claude"
      ? (await import("../../foreign/export/claude.ts")).exportClaude(session)
      : (await import("../../foreign/export/pi.ts")).exportPi(session);
  const code = await writeOutput(args, file.text);
  const note = (text: string): void => void process.stderr.write(`parley: ${sanitizeLine(text)}\n`);
  if (file.leftOut.thinking > 0)
    note(`Left out: ${pluralize(file.leftOut.thinking, "part")} of thinking that ${agent} cannot send back.`);
  note(`Save it as ${file.destination}, then resume it in ${session.head.root} with ${file.resume}`);
  return code;
};

type ExportFormat =
  | { readonly type: "json" | "markdown" | "html" | "claude" | "pi" }
  | { readonly type: "body"; readonly wire: string | undefined; readonly to: string | undefined };

/** Parses the export format. A body is for the model of `--for`, or for an API; then for the session's own model if it uses that API. */
const parseFormat = (args: Arguments): ExportFormat => {
  const format = args.value("format");
  const to = args.value("for");
  const wire = to === undefined ? undefined : destinationOf(to).wire.id;
  if (args.value("images") !== undefined && format !== "html") throw usageError("--images is for --format html.");
  if (format === "json" || format === "markdown" || format === "html" || format === "claude" || format === "pi") {
    if (to !== undefined)
      throw usageError(`--for exports a request body; it cannot be combined with --format ${format}.`);
    return { type: format };
  }
  if (format === undefined) return to === undefined ? { type: "json" } : { type: "body", wire, to };
  if (!wireIds.some((id) => id === format))
    throw usageError(`Unknown format "${format}". Available: json, markdown, html, claude, pi, ${wireIds.join(", ")}.`);
  if (wire !== undefined && wire !== format) throw usageError(`${to} uses the API ${wire}, not ${format}.`);
  return { type: "body", wire: format, to };
};

/** Composes the HTML file, and prints what is not in it to stderr. */
const composeHtml = async ({ world }: SessionsContext, session: ReadSession, args: Arguments): Promise<string> => {
  const [{ exportHtml }, { exportedImages }] = await Promise.all([
    import("../../inspect/export.tsx"),
    import("../../inspect/exported-media.tsx"),
  ]);
  const wanted = args.value("images") ?? "bounded";
  const images = exportedImages.find((each) => each === wanted);
  if (images === undefined)
    throw usageError(`Unknown value "${wanted}" for --images. Available: ${exportedImages.join(", ")}.`);
  const { html, notes } = await exportHtml(session, { redactor: createRedactor({ env: world.env }), images });
  for (const note of notes) process.stderr.write(`parley: ${sanitizeLine(note)}\n`);
  return html;
};

const composeBody = (session: ReadSession, { wire, to }: Extract<ExportFormat, { type: "body" }>): unknown => {
  const own = sessionModel(session);
  const speaks = own !== undefined && isKnownModel(own) && destinationOf(own).wire.id === wire;
  const target = to ?? (speaks ? own : homeProviders[wireIds.find((id) => id === wire) ?? "anthropic"]);
  return composeSessionRequest(session, target, { policy: { unsupportedMedia: "stub", thinking: "own" } }).body;
};

const isKnownModel = (model: string): boolean => {
  try {
    return destinationOf(model) !== undefined;
  } catch {
    return false;
  }
};

type SessionDetails = ReturnType<typeof summarizeSession> & {
  readonly findings: readonly string[];
  readonly requests: Awaited<ReturnType<typeof listRequests>>;
  readonly conversation: Conversation;
};

const collectDetails = async (session: ReadSession): Promise<SessionDetails> => ({
  ...summarizeSession(session),
  findings: session.damage.map(describeDamage),
  requests: await listRequests(session),
  conversation: exportConversation(session),
});

function* jsonDocument(value: unknown): Generator<string> {
  yield* jsonChunks(value);
  yield "\n";
}

/** Writes to the file of `--output`, readable only by its owner, or to stdout. */
const writeOutput = async (args: Arguments, text: string | Generator<string>): Promise<number> => {
  const file = args.value("output");
  const pieces = typeof text === "string" ? [text] : joinChunks(text);
  if (file === undefined) {
    for (const piece of pieces) if (!process.stdout.write(piece)) await once(process.stdout, "drain");
    return 0;
  }
  await withProgress(`Writing ${file}`, () => writeFile(resolve(file), pieces, { mode: 0o600 })).catch(
    (error: Error) => {
      throw new UserError(`Cannot write ${file}: ${error.message}.`, { code: 1 });
    },
  );
  return 0;
};

/** Joins chunks to at least 64 KB, to save writes. */
function* joinChunks(pieces: Iterable<string>): Generator<string> {
  let text = "";
  for (const piece of pieces) {
    text += piece;
    if (text.length < 2 ** 16) continue;
    yield text;
    text = "";
  }
  yield text;
}
