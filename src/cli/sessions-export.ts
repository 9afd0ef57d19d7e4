import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Conversation } from "../conversation/entry.ts";
import { destinationOf, homeOf, wireIds } from "../providers/find.ts";
import { conversationOf } from "../session/export.ts";
import { tellFinding } from "../session/finding.ts";
import { markdownOf } from "../session/markdown.ts";
import type { ReadSession } from "../session/store.ts";
import { summaryOf } from "../session/summary.ts";
import type { Arguments } from "./arguments.ts";
import { Failure, misused } from "./failure.ts";
import { jsonPieces } from "./json-pieces.ts";
import { composedFor, modelOf } from "./session-render.ts";
import { requestsIn } from "./session-requests.ts";
import { readNamed } from "./session-store.ts";
import { idAlone } from "./session-words.ts";
import type { SessionAction } from "./sessions.ts";
import { plain } from "../policy/plain.ts";

/** `parley sessions show`: a session to be read. At a terminal nothing in it reaches the terminal's controls. */
export const show: SessionAction = async (store, given) => {
  const session = await readNamed(store, idAlone(given));
  const isShown = given.value("output") === undefined && process.stdout.isTTY;
  const markdown = (): string => (isShown ? plain(markdownOf(session)) : markdownOf(session));
  return deliver(given, given.has("json") ? jsonText(await inFull(session)) : markdown());
};

/** `parley sessions export`: a session for other programs. */
export const exportSession: SessionAction = async (store, given) => {
  const id = idAlone(given);
  const format = formatOf(given);
  const session = await readNamed(store, id);
  switch (format.type) {
    case "json":
      return deliver(given, jsonText(conversationOf(session)));
    case "markdown":
      return deliver(given, markdownOf(session));
    case "body":
      return deliver(given, jsonText(bodyOf(session, format)));
  }
};

type Format =
  | { readonly type: "json" | "markdown" }
  | { readonly type: "body"; readonly wire: string | undefined; readonly to: string | undefined };

/** What was asked for. A body is for a model, or for an API and then for the session's own model where that speaks it. */
const formatOf = (given: Arguments): Format => {
  const format = given.value("format");
  const to = given.value("for");
  const wire = to === undefined ? undefined : destinationOf(to).wire.id;
  if (format === "json" || format === "markdown") {
    if (to !== undefined) throw misused(`--for makes the request body of an API; it does not go with ${format}.`);
    return { type: format };
  }
  if (format === undefined) return to === undefined ? { type: "json" } : { type: "body", wire, to };
  if (!wireIds.some((id) => id === format))
    throw misused(`--format can be json, markdown, ${wireIds.join(", ")}; it was given as "${format}".`);
  if (wire !== undefined && wire !== format) throw misused(`${to} speaks ${wire}, not ${format}.`);
  return { type: "body", wire: format, to };
};

const bodyOf = (session: ReadSession, { wire, to }: Extract<Format, { type: "body" }>): unknown => {
  const own = modelOf(session);
  const speaks = own !== undefined && isKnown(own) && destinationOf(own).wire.id === wire;
  const target = to ?? (speaks ? own : homeOf[wireIds.find((id) => id === wire) ?? "anthropic"]);
  return composedFor(session, target, { policy: { unsupportedMedia: "stub", thinking: "own" } }).body;
};

const isKnown = (model: string): boolean => {
  try {
    return destinationOf(model) !== undefined;
  } catch {
    return false;
  }
};

type Full = ReturnType<typeof summaryOf> & {
  readonly findings: readonly string[];
  readonly requests: Awaited<ReturnType<typeof requestsIn>>;
  readonly conversation: Conversation;
};

const inFull = async (session: ReadSession): Promise<Full> => ({
  ...summaryOf(session),
  findings: session.healed.map(tellFinding),
  requests: await requestsIn(session),
  conversation: conversationOf(session),
});

function* jsonText(value: unknown): Generator<string> {
  yield* jsonPieces(value);
  yield "\n";
}

/** Writes to the file that was asked for, or to stdout. What was said in a session is its owner's alone. */
const deliver = async (given: Arguments, text: string | Generator<string>): Promise<number> => {
  const file = given.value("output");
  const pieces = typeof text === "string" ? [text] : joined(text);
  if (file === undefined) {
    for (const piece of pieces) if (!process.stdout.write(piece)) await once(process.stdout, "drain");
    return 0;
  }
  await writeFile(resolve(file), pieces, { mode: 0o600 }).catch((error: Error) => {
    throw new Failure(`${file} cannot be written: ${error.message}.`, { code: 1 });
  });
  return 0;
};

/** Pieces of a size that is worth a write. */
function* joined(pieces: Iterable<string>): Generator<string> {
  let text = "";
  for (const piece of pieces) {
    text += piece;
    if (text.length < 2 ** 16) continue;
    yield text;
    text = "";
  }
  yield text;
}
