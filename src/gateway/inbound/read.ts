import type { Conversation, Origin, ProviderFields } from "../../conversation/entry.ts";
import type { Note } from "../../conversation/notes.ts";
import { fingerprint } from "../../hash.ts";
import { homeProviders } from "../../providers/find.ts";
import type { Target } from "../../transcript/target.ts";
import type { BoundWire } from "../../wire/bind.ts";
import type { RequestSettings } from "../../wire/wire.ts";
import type { InboundApi } from "../answers/answer.ts";
import type { NormalizedBody } from "./normalize.ts";
import { recallSeals, restoreSeals } from "./restore-seals.ts";
import { translateFields } from "./translate-fields.ts";

/** A client's request as a conversation, read for one target. */
export type InboundRequest = {
  readonly conversation: Conversation;
  readonly settings: RequestSettings;
  readonly notes: readonly Note[];
  /** Whether the body is damaged, so that seals bound to their prefix cannot be trusted. */
  readonly isChanged: boolean;
  /** Names of server tools the target lacks. */
  readonly lostTools: readonly string[];
};

/** Options of `readInbound`. */
export type InboundOptions = {
  readonly api: InboundApi;
  /** The model as the client named it. */
  readonly model: string;
  readonly target: Target;
  /** The wire of the target. */
  readonly wire: BoundWire["id"];
  /** The reader of the inbound API. */
  readonly reader: BoundWire["read"];
  readonly stream: boolean;
  /** Returns the wrapped seal of a call that the client did not return. */
  readonly recall?: (callId: string) => string | undefined;
};

/**
 * Reads a client's request for a target. Messages without wrapped seals count as the target's own where it has the same
 * API, and as those of the API's owner elsewhere.
 */
export const readInbound = (
  { body, notes: before }: NormalizedBody,
  { api, model, target, wire, reader, stream, recall }: InboundOptions,
): InboundRequest => {
  const isSameApi = wire === api;
  const origin: Origin = isSameApi
    ? {
        provider: target.provider,
        model: target.model,
        ...(target.account === undefined ? {} : { account: target.account }),
      }
    : { provider: homeProviders[api], model };
  const { model: _, ...unnamed } = body;
  const decoded = reader(api === "gemini" ? unnamed : { ...unnamed, model: origin.model }, origin);
  const { extra: read, ...settings } = decoded.settings;
  const extra = read === undefined || target.provider === homeProviders[api] ? read : withoutOwnFields(read);
  const translated = isSameApi ? undefined : translateFields(api, body, wire);
  const carried: ProviderFields | undefined = isSameApi
    ? extra
    : { provider: target.provider, model: target.model, fields: translated?.fields ?? [] };
  const lost = isSameApi ? [] : (extra?.fields ?? []).filter(({ at }) => at.endsWith("tools/-"));
  const { entries } = decoded.conversation;
  const conversation = {
    ...decoded.conversation,
    entries: restoreSeals(recall === undefined ? entries : recallSeals(entries, recall)),
  };
  return {
    conversation,
    settings: {
      ...settings,
      stream,
      ...(settings.thinking === undefined ? {} : { thoughts: settings.thinking.effort !== "none" }),
      cache: { marks: true, key: cacheKeyOf(conversation), ...settings.cache },
      ...(carried === undefined || carried.fields.length === 0 ? {} : { extra: carried }),
      ...(translated?.output === undefined ? {} : { output: translated.output }),
    },
    notes: [
      ...before,
      ...decoded.notes,
      ...(isSameApi || extra === undefined ? [] : lossNotesOf(extra)),
      ...(translated?.notes ?? []),
    ],
    isChanged: decoded.notes.some((made) => made.class === "state" && made.kind !== "unread-field"),
    lostTools: lost.map(({ value }) => toolName(value)),
  };
};

/**
 * Leaves out fields that only the owner of an API knows. Its SDKs send them to every server with that API, and the usage
 * of a stream is requested anyway where it can be.
 */
const withoutOwnFields = (extra: ProviderFields): ProviderFields => ({
  ...extra,
  fields: extra.fields.filter(({ at }) => !ownFields.has(at.replace(/^\//, ""))),
});

const ownFields: ReadonlySet<string> = new Set([
  "stream_options",
  "store",
  "service_tier",
  "verbosity",
  "safety_identifier",
  "prompt_cache_retention",
]);

const toolName = (value: unknown): string => {
  const { name, type } = value as { readonly name?: unknown; readonly type?: unknown };
  return [type, name, ...Object.keys(value as object)].find((word) => typeof word === "string") ?? "";
};

/** Fields without a counterpart at the target. Those that were translated are not lost. */
const lossNotesOf = ({ fields }: ProviderFields): readonly Note[] =>
  fields
    .filter(({ at, translated }) => translated !== true && !translatedPaths.test(at))
    .map(({ kind, loss }) => ({ class: "state", kind: kind ?? "unread-field", message: loss }));

const translatedPaths =
  /(^|\/)(stop|stop_sequences|stopSequences|response_format|responseJsonSchema|responseSchema)$|^output_config\/format$|^output_format$/;

/**
 * Routes the requests of one conversation together. It depends on the beginning alone: the first part of the first entry,
 * since clients with alternating roles add later prompts to the same message.
 */
const cacheKeyOf = ({ system, entries: [first] }: Conversation): string => {
  const beginning = first !== undefined && "parts" in first ? first.parts[0] : first;
  return fingerprint(JSON.stringify([system ?? "", beginning ?? null]));
};
