import { describe, expect, it } from "vitest";
import type { Conversation } from "../../src/conversation/entry.ts";
import { isObject, type JsonObject } from "../../src/conversation/json.ts";
import type { InboundApi } from "../../src/gateway/answers/answer.ts";
import { normalizeBody } from "../../src/gateway/inbound/normalize.ts";
import { readInbound } from "../../src/gateway/inbound/read.ts";
import { composeOutbound } from "../../src/gateway/outbound/compose.ts";
import { providers } from "../../src/providers/all.ts";
import type { Provider } from "../../src/providers/define.ts";
import { findProvider, homeProviders } from "../../src/providers/find.ts";
import { lint } from "../../src/rules/lint.ts";
import { composeRequest } from "../../src/wire/compose.ts";
import { buildHistory, makeHistory } from "../support/histories.ts";
import { unitsIn } from "../support/properties.ts";
import { perTier, seedFor } from "../support/tier.ts";

const count = perTier({ quick: 6, all: 120 });

const apis: readonly InboundApi[] = ["anthropic", "openai-chat", "openai-responses", "gemini"];

/** The body a client of an API sends for a conversation. */
const clientBody = (api: InboundApi, conversation: Conversation): JsonObject => {
  const home = findProvider(homeProviders[api]);
  return composeRequest(conversation, home.destination(home.defaultModel), {
    policy: { unsupportedMedia: "stub" },
    settings: { maxTokens: 1000 },
  }).body;
};

const sendThrough = (api: InboundApi, body: JsonObject, provider: Provider): JsonObject => {
  const destination = provider.destination(provider.defaultModel);
  const inbound = readInbound(normalizeBody(api, body), {
    api,
    model: "some-model",
    target: destination.target,
    wire: destination.wire.id,
    reader: findProvider(homeProviders[api]).destination("").wire.read,
    stream: true,
  });
  return composeOutbound(inbound, destination).body;
};

const tokensIn = (body: unknown): readonly string[] =>
  [...JSON.stringify(body).matchAll(/⟦\d+⟧/g)].map(([token]) => token);

/** Bytes of the client's files, as base64. */
const filesIn = (body: JsonObject): readonly string[] =>
  [...JSON.stringify(body).matchAll(/"(?:data:[^"]*base64,)?(bWVkaWEt[\w+/]*=*)"/g)].map(([, bytes]) => bytes ?? "");

describe.each(apis)("a growing history of an %s client", (api) => {
  it("is valid at every target, keeps its prefix there, and loses no word, result or file", () => {
    const broken: string[] = [];
    for (let index = 0; index < count && broken.length === 0; index++) {
      const seed = seedFor(index);
      const { conversation } = buildHistory(makeHistory(seed));
      // A compaction replaces the prefix, by design.
      if (conversation.entries.some(({ type }) => type === "compaction")) continue;
      const provider = providers[(index + apis.indexOf(api) * count) % providers.length]!;
      const where = `seed ${seed}, ${provider.id}`;
      const destination = provider.destination(provider.defaultModel);
      let sent: readonly string[] = [];
      let before: readonly string[] = [];
      let head = "";
      for (let size = 1; size <= conversation.entries.length; size++) {
        const body = clientBody(api, { ...conversation, entries: conversation.entries.slice(0, size) });
        // A client sends a request when the user or a tool has spoken.
        if (!endsWithUser(homeMessages(api, body).at(-1) ?? {})) continue;
        const out = sendThrough(api, body, provider);
        const finding = lint(out, { wire: provider.wire, provider: provider.id, model: provider.defaultModel }).find(
          ({ level }) => level === "error",
        );
        if (finding !== undefined) broken.push(`${where}: ${finding.rule} at ${finding.pointer}: ${finding.message}`);
        const bytes = JSON.stringify(out);
        for (const token of tokensIn(body)) if (!bytes.includes(token)) broken.push(`${where}: ${token} is lost`);
        for (const file of filesIn(body))
          if (!bytes.includes(file) && !/file-[0-9a-f]{8}/.test(bytes)) broken.push(`${where}: a file is lost`);
        // Only where the client's own request kept its prefix can the target's keep it.
        const asked = unitsIn(homeMessages(api, body), homeDestination(api)).map((unit) => JSON.stringify(unit));
        const now = unitsIn(destination.wire.extractMessages(out), destination).map((unit) => JSON.stringify(unit));
        const frame = frameOf(out);
        if (before.every((unit, at) => unit === asked[at])) {
          if (head !== "" && head !== frame) broken.push(`${where}, ${size} entries: ${head} became ${frame}`);
          const changed = sent.findIndex((unit, at) => unit !== now[at]);
          if (changed !== -1)
            broken.push(`${where}, ${size} entries: unit ${changed}: ${sent[changed]} became ${now[changed]}`);
        }
        [sent, before, head] = [now, asked, frame];
      }
    }
    expect(broken.slice(0, 3)).toEqual([]);
  });
});

/** Everything of a body but its messages. Code Assist has them in a request within the body. */
const frameOf = ({ messages: _messages, contents: _contents, input: _input, request, ...rest }: JsonObject): string =>
  JSON.stringify(rest) + (isObject(request) ? frameOf(request as JsonObject) : "");

const endsWithUser = ({ role, type }: JsonObject): boolean =>
  role === "user" || role === "tool" || type === "function_call_output";

const homeDestination = (api: InboundApi): ReturnType<Provider["destination"]> => {
  const home = findProvider(homeProviders[api]);
  return home.destination(home.defaultModel);
};

const homeMessages = (api: InboundApi, body: JsonObject): readonly JsonObject[] =>
  homeDestination(api).wire.extractMessages(body);
