import { expect } from "vitest";
import { call, done, failed, structured, text, thinking } from "../conversation/builders.ts";
import type { Conversation, Origin, ToolDeclaration } from "../conversation/entry.ts";
import type { JsonObject } from "../conversation/json.ts";
import type { Ledger, NewPart } from "../conversation/ledger.ts";
import { storeBase64, type StoredMedia } from "../conversation/media.ts";
import type { Note } from "../conversation/notes.ts";
import type { Content, Media, OutcomeStatus, Seal } from "../conversation/parts.ts";
import { render } from "../transcript/render.ts";
import type { CallExchange, MediaFile, RenderedResult } from "../transcript/step.ts";
import type { RenderPolicy, Target } from "../transcript/target.ts";
import { lossNotes } from "./provider-fields.ts";
import type { DecodedRequest, RequestSettings, Wire, WireRequest } from "./wire.ts";

/** Returns the notes another API gets: those of the reading, and those for fields that only its own API knows. */
export const notesElsewhere = ({ notes, settings }: DecodedRequest): readonly Note[] =>
  settings.extra === undefined ? notes : [...notes, ...lossNotes(settings.extra)];

/** The settings every API has. */
export const sharedSettings = ({ settings }: DecodedRequest): RequestSettings => {
  const { extra: _, ...shared } = settings;
  return shared;
};

/** Where a conversation is written to, and what is asked of the model there. */
export type EncodeCase<Dialect> = {
  readonly target: Target;
  readonly dialect: Dialect;
  readonly settings: RequestSettings;
  readonly policy?: Partial<RenderPolicy>;
};

/** The body of a whole conversation: rendered for the target, written by the wire. */
export const write = <Dialect>(
  wire: Wire<Dialect>,
  conversation: Conversation,
  { target, dialect, settings, policy }: EncodeCase<Dialect>,
): JsonObject => {
  const { system, tools = [] } = conversation;
  const request: WireRequest<Dialect> = {
    model: target.model,
    ...(system === undefined ? {} : { system }),
    tools,
    settings,
    dialect,
  };
  const { transcript } = render(conversation, target, policy);
  const steps = transcript.flatMap((step) => wire.encodeStep(step, dialect, policy?.toolResponse));
  return encodeMarked(wire, [...wire.encodeHead(request), ...steps], request);
};

/** The body around some messages, with those that are marked for the cache in their places. */
export const encodeMarked = <Dialect>(
  wire: Wire<Dialect>,
  messages: readonly JsonObject[],
  request: WireRequest<Dialect>,
): JsonObject => {
  const sent = [...messages];
  for (const { at: place, message } of wire.markCachePoints(messages, request)) sent[place] = message;
  return wire.encodeRequest(sent, request).body;
};

/** Expects the body of a conversation to stay the same, byte for byte, when it is read and written again; gives what was read. */
export const expectSameAgain = <Dialect>(
  wire: Wire<Dialect>,
  conversation: Conversation,
  { from, ...writing }: EncodeCase<Dialect> & { readonly from: Origin },
): DecodedRequest => {
  const body = JSON.stringify(write(wire, conversation, writing));
  const back = wire.read(JSON.parse(body), from);

  expect(JSON.stringify(write(wire, back.conversation, { ...writing, settings: back.settings }))).toBe(body);
  return back;
};

/** Files as a step shows them. */
export const png: MediaFile = {
  type: "file",
  kind: "image",
  mimeType: "image/png",
  id: "file-1",
  source: { type: "data", base64: "cG5n" },
};
export const nameless: MediaFile = { ...png, kind: "document", mimeType: "application/pdf", id: "file-2" };
export const pdf: MediaFile = { ...nameless, name: "report.pdf" };

/** The same file, served somewhere else. */
export const fileAt = (file: MediaFile, uri: string): MediaFile => ({ ...file, source: { type: "uri", uri } });

/** A call of the tool `snap` that ended this way. */
export const snapExchange = (
  id: string,
  content: RenderedResult["content"],
  status: OutcomeStatus = "complete",
): CallExchange => ({
  type: "exchange",
  call: "hist_tool_1",
  id,
  tool: "snap",
  input: { n: 1 },
  inputText: undefined,
  seal: { id: "raw" },
  result: { status, content },
});

/** The declaration of that tool. */
export const snap: ToolDeclaration & JsonObject = {
  name: "snap",
  description: "Takes a picture",
  parameters: { type: "object", properties: {} },
};

/** A request with a system text and that tool. */
export const requestWith = <Dialect>(settings: RequestSettings, dialect: Dialect): WireRequest<Dialect> => ({
  model: "m",
  system: "Be brief.",
  tools: [snap],
  settings,
  dialect,
});

/** Everything a caller can ask for. */
export const everySetting: RequestSettings = {
  maxTokens: 100,
  temperature: 0.5,
  stream: true,
  toolChoice: { tool: "snap" },
  thinking: { effort: "high" },
  cache: { key: "session-1", marks: true },
};

/** A call of the tool `snap` as a reader finds it. */
export const callPart = (
  ordinal: number,
  seal: Seal,
  input: unknown = { type: "parsed", value: {}, text: "{}" },
): unknown => ({ type: "call", id: `hist_tool_${ordinal}`, tool: "snap", input, seal });

/** The end of such a call as a reader finds it. */
export const completion = (ordinal: number, ...content: readonly Content[]): unknown => ({
  type: "completion",
  call: `hist_tool_${ordinal}`,
  tool: "snap",
  outcome: { status: "complete", content },
});

/** The files a user showed first: kind, type, name, and the address or that there are bytes. Other parts stay whole. */
export const mediaIn = ({ entries: [entry] }: Conversation): readonly unknown[] =>
  entry?.type === "user"
    ? entry.parts.map((part) =>
        part.type === "media"
          ? [part.kind, part.mimeType, part.name, part.source.type === "uri" ? part.source.uri : "bytes"]
          : part,
      )
    : [];

/** A picture that conversations show. */
export const shot: StoredMedia = storeBase64("cG5n", { mimeType: "image/png" });

const pictures = { types: ["image/png", "image/jpeg"], uri: ["https:"] };

/** A target that takes pictures anywhere but in failed results, and whose ids start with `call_`. */
export const pictureTarget: Target = {
  provider: "p",
  model: "m",
  ids: { name: "test", legal: /^call_\w+$/, project: (ordinal, _tool, attempt) => `call_${ordinal}_${attempt}` },
  toolName: /^[\w-]{1,64}$/,
  media: { result: { image: pictures }, errorResult: {}, user: { image: pictures }, model: {} },
  thinking: { form: "none", readers: [], bound: false },
  order: { userFirst: false, userLast: false, alternate: false, bridgeAfterResults: false },
};

/**
 * Adds an eventful turn: `opening` ends with a first call, and two more follow. The second fails first, the first
 * returns the picture and `also`, the third is left open; then a model of another provider speaks.
 */
export const addSnaps = (ledger: Ledger, opening: readonly NewPart[], ...also: readonly Media[]): void => {
  const calls = ledger.model({ provider: "p", model: "m" }, [
    ...opening,
    { type: "call", tool: "snap", input: { text: '{ "n" : 2 }' }, seal: { id: "call_b" } },
    text("and wait"),
    call("snap", "not json", "call_c"),
  ]);
  ledger.complete(calls[1]!.id, "snap", failed("no light", shot.media));
  ledger.complete(calls[0]!.id, "snap", done("here", shot.media, structured({ ok: true }), ...also));
  ledger.model({ provider: "elsewhere", model: "x" }, [thinking("foreign"), text("a"), text("b")]);
};

/** A conversation of what the ledger holds, with the bytes of its files. */
export const conversationOf = ({ entries }: Ledger, stored: readonly StoredMedia[]): Conversation => ({
  version: 1,
  system: "Be brief.",
  tools: [{ name: "snap", parameters: { type: "object", properties: { n: { type: "number" } } } }],
  entries,
  blobs: blobsOf(stored),
});

/** The bytes of files, by hash. */
export const blobsOf = (stored: readonly StoredMedia[]): Conversation["blobs"] =>
  Object.fromEntries(stored.map(({ blob }) => [blob.hash, blob.base64]));
