import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/conversation/json.ts";
import { providers } from "../../src/providers/all.ts";
import { addCodeAssistMetadata } from "../../src/transport/credentials/code-assist.ts";
import { createBodyEncoder } from "../../src/transport/body-bytes.ts";
import { RequestComposer } from "../../src/wire/compose.ts";
import { buildHistory, makeHistory } from "../support/histories.ts";
import { makeSettings } from "../support/properties.ts";

/*
 * Cached bytes equal freshly encoded ones: request after request of growing conversations, the
 * text is the one that JSON has for the body.
 */

describe.each(providers.map((provider) => ({ id: provider.id, provider })))("bodies for $id", ({ provider }) => {
  const destination = provider.destination(provider.defaultModel);

  it("are written as JSON writes them, however often their messages went out before", () => {
    const bytes = createBodyEncoder();
    const write = (body: JsonObject): string => new TextDecoder().decode(bytes(body));
    let bodies = 0;
    for (let seed = 1; seed <= 40; seed++) {
      const { conversation, requests } = buildHistory(makeHistory(seed));
      const { system, tools, blobs } = conversation;
      const policy = { unsupportedMedia: "stub" } as const;
      const composer = new RequestComposer({ destination, system, tools, blobs, policy });
      let done = 0;
      for (const count of [...requests, conversation.entries.length]) {
        composer.add(conversation.entries.slice(done, count));
        done = count;
        const body = composer.body({ ...makeSettings(seed), cache: { marks: true, key: "session" } });
        for (const each of [body, addCodeAssistMetadata(body, { project: "p", promptId: "i", session: "s" })]) {
          expect(write(each)).toBe(JSON.stringify(each));
          bodies += 1;
        }
      }
    }
    expect(bodies).toBeGreaterThan(100);
  });
});

describe("a body", () => {
  it("is written as JSON writes it, whatever it holds", () => {
    const bytes = createBodyEncoder();
    const write = (body: JsonObject): string => new TextDecoder().decode(bytes(body));
    const shared = { text: 'a\u2028"\\\ud800', n: [1, -0, 1e21, null, [], {}] };
    const body = {
      messages: [shared, shared, "words", 1, true, null, [shared]],
      empty: [],
      nothing: {},
      'a "key"': { list: [shared], deep: { deeper: { list: [shared] } } },
      large: [{ text: "x".repeat(300_000) }],
    };
    for (const _ of [1, 2]) expect(write(body)).toBe(JSON.stringify(body));
  });
});
