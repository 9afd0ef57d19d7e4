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
import type { Arguments } from "../parse-arguments.ts";
import { UserError, usageError } from "../user-error.ts";
import { jsonChunks } from "../json/chunks.ts";
import { composeSessionRequest, sessionModel } from "./compose-request.ts";
import { listRequests } from "./requests.ts";
import { readSession } from "./context.ts";
import { sessionIdFrom } from "../format.ts";
import type { SessionAction } from "./run.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";

/** `parley sessions show`: a session to be read. At a terminal nothing in it reaches the terminal's controls. */
export const showSession: SessionAction = async (store, given) => {
  const session = await readSession(store, sessionIdFrom(given));
  const isShown = given.value("output") === undefined && process.stdout.isTTY;
  const markdown = (): string => (isShown ? sanitizeForTerminal(exportMarkdown(session)) : exportMarkdown(session));
  return writeOutput(given, given.has("json") ? jsonDocument(await collectDetails(session)) : markdown());
};

/** `parley sessions export`: a session for other programs. */
export const exportSession: SessionAction = async (store, given) => {
  const id = sessionIdFrom(given);
  const format = parseFormat(given);
  const session = await readSession(store, id);
  switch (format.type) {
    case "json":
      return writeOutput(given, jsonDocument(exportConversation(session)));
    case "markdown":
      return writeOutput(given, exportMarkdown(session));
    case "body":
      return writeOutput(given, jsonDocument(composeBody(session, format)));
  }
};

type ExportFormat =
  | { readonly type: "json" | "markdown" }
  | { readonly type: "body"; readonly wire: string | undefined; readonly to: string | undefined };

/** What was asked for. A body is for a model, or for an API and then for the session's own model where that speaks it. */
const parseFormat = (given: Arguments): ExportFormat => {
  const format = given.value("format");
  const to = given.value("for");
  const wire = to === undefined ? undefined : destinationOf(to).wire.id;
  if (format === "json" || format === "markdown") {
    if (to !== undefined) throw usageError(`--for makes the request body of an API; it does not go with ${format}.`);
    return { type: format };
  }
  if (format === undefined) return to === undefined ? { type: "json" } : { type: "body", wire, to };
  if (!wireIds.some((id) => id === format))
    throw usageError(`--format can be json, markdown, ${wireIds.join(", ")}; it was given as "${format}".`);
  if (wire !== undefined && wire !== format) throw usageError(`${to} speaks ${wire}, not ${format}.`);
  return { type: "body", wire: format, to };
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

/** Writes to the file that was asked for, or to stdout. What was said in a session is its owner's alone. */
const writeOutput = async (given: Arguments, text: string | Generator<string>): Promise<number> => {
  const file = given.value("output");
  const pieces = typeof text === "string" ? [text] : joinChunks(text);
  if (file === undefined) {
    for (const piece of pieces) if (!process.stdout.write(piece)) await once(process.stdout, "drain");
    return 0;
  }
  await writeFile(resolve(file), pieces, { mode: 0o600 }).catch((error: Error) => {
    throw new UserError(`${file} cannot be written: ${error.message}.`, { code: 1 });
  });
  return 0;
};

/** Pieces of a size that is worth a write. */
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
