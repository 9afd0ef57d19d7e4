import { describe, expect, it } from "vitest";
import { candidateIn, eventsIn, createClient, partsIn, tools, user } from "./client.cases.ts";
import type { Json } from "../family.ts";
import { asObject, asText } from "../json.ts";
import type { Script } from "../model/script.ts";

const script: Script = {
  rules: [
    {
      prompt: "look",
      replies: [
        {
          think: "Three files to read.",
          say: "I will look at all of them.",
          call: ["a", "b", "c"].map((path) => ({ tool: "snap", input: { path } })),
        },
      ],
    },
  ],
};
const question = {
  contents: [user("Please look.")],
  ...tools("snap"),
  generationConfig: { thinkingConfig: { includeThoughts: true } },
};
const hello = { contents: [user("Hello, is anyone there today?")] };

/** Collects the parts of a stream: text joined, other parts unchanged. */
const joined = (
  events: readonly Json[],
): { readonly thought: string; readonly text: string; readonly calls: Json[] } => {
  const parts = events.flatMap(partsIn);
  const words = (thought: boolean): string =>
    parts
      .filter((part) => (part["thought"] === true) === thought)
      .map((part) => asText(part["text"]))
      .join("");
  return { thought: words(true), text: words(false), calls: parts.filter((part) => "functionCall" in part) };
};

describe("a streamed response of Gemini", () => {
  it("has the same content as the complete response, with each call in one chunk", async () => {
    const { body } = await createClient("google", { script }).ask("gemini-3.8-flash", question);
    const { type, text } = await createClient("google", { script }).stream("gemini-3.8-flash", question);
    const events = eventsIn(text);

    expect(type).toBe("text/event-stream");
    expect(joined(events)).toEqual(joined([body]));
    expect(events.map((event) => partsIn(event).filter((part) => "functionCall" in part).length).slice(-3)).toEqual([
      1, 2, 0,
    ]);
    expect(events.at(-1)).toEqual({
      ...body,
      candidates: [{ ...candidateIn(body), content: { parts: [{ text: "" }], role: "model" } }],
    });
  });

  it("is formatted as Google does", async () => {
    const { text } = await createClient("google").stream("gemini-2.5-flash", { contents: [user("Hi.")] });

    expect(text.split("\r\n\r\n")).toEqual([
      'data: {"candidates": [{"content": {"parts": [{"text": "You"}],"role": "model"},"index": 0}],"usageMetadata": {"promptTokenCount": 1,"candidatesTokenCount": 1,"totalTokenCount": 2,"promptTokensDetails": [{"modality": "TEXT","tokenCount": 1}],"serviceTier": "standard"},"modelVersion": "gemini-2.5-flash","responseId": "c2ltdWxhdGVkLTAwMDAwMDE"}',
      'data: {"candidates": [{"content": {"parts": [{"text": " said: \\"Hi.\\"."}],"role": "model"},"finishReason": "STOP","index": 0}],"usageMetadata": {"promptTokenCount": 1,"candidatesTokenCount": 4,"totalTokenCount": 5,"promptTokensDetails": [{"modality": "TEXT","tokenCount": 1}],"serviceTier": "standard"},"modelVersion": "gemini-2.5-flash","responseId": "c2ltdWxhdGVkLTAwMDAwMDE"}',
      "",
    ]);
  });

  it("ends with the signature on an empty part", async () => {
    const { text } = await createClient("google").stream("gemini-3.8-flash", hello);
    const events = eventsIn(text);

    expect(partsIn(events.at(-1) ?? {})).toEqual([{ text: "", thoughtSignature: expect.any(String) }]);
    expect(events.map((event) => candidateIn(event)["finishReason"]).filter((reason) => reason !== undefined)).toEqual([
      "STOP",
    ]);
  });

  it("has the signature of Gemini 2.5 on the last text", async () => {
    const { text } = await createClient("google", {
      script: { rules: [{ replies: [{ think: "Hm.", say: "Yes it is." }] }] },
    }).stream("gemini-2.5-flash", hello);

    expect(eventsIn(text).map(partsIn)).toEqual([
      [{ text: "Yes" }],
      [{ text: " it is.", thoughtSignature: expect.any(String) }],
    ]);
  });

  it("has usage in every chunk on the Gemini API, and in the last one on Vertex", async () => {
    const counts = async (provider: string): Promise<unknown[]> =>
      eventsIn((await createClient(provider).stream("gemini-2.5-flash", hello)).text).map(
        (event) => asObject(event["usageMetadata"])["candidatesTokenCount"],
      );

    expect(await counts("google")).toEqual([1, 6, 10, 11]);
    expect(await counts("vertex")).toEqual([undefined, undefined, undefined, 11]);
  });

  it("has an envelope around every event at Code Assist", async () => {
    const { text } = await createClient("code-assist").stream("gemini-3.8-flash", hello);

    expect(new Set(eventsIn(text).map((event) => Object.keys(event).join()))).toEqual(new Set(["response,traceId"]));
  });

  it("is one JSON list without alt=sse", async () => {
    const { type, text } = await createClient("google", { script }).stream("gemini-3.8-flash", question, "");
    const events = eventsIn((await createClient("google", { script }).stream("gemini-3.8-flash", question)).text);

    expect(type).toBe("application/json; charset=UTF-8");
    expect(JSON.parse(text)).toEqual(events);
  });

  it("has the read pages in the first event, and the grounding in the last", async () => {
    const asked = { contents: [user("Read https://example.com/a")], tools: [{ urlContext: {} }] };
    const events = eventsIn((await createClient("google").stream("gemini-3.8-flash", asked)).text);
    const has = (name: string): readonly number[] =>
      events.flatMap((event, index) => (name in candidateIn(event) ? [index] : []));

    expect(has("urlContextMetadata")).toEqual([0]);
    expect(has("groundingMetadata")).toEqual([events.length - 1]);
  });

  it("ends blocked, empty and filtered responses with one last event", async () => {
    const last = async (reply: object): Promise<Json[]> => {
      const { stream } = createClient("google", { script: { rules: [{ replies: [reply] }] } });
      return [...eventsIn((await stream("gemini-3.8-flash", hello)).text)];
    };

    expect((await last({ finish: "refused" })).map((event) => event["promptFeedback"])).toEqual([
      { blockReason: "PROHIBITED_CONTENT" },
    ]);
    expect((await last({})).map(candidateIn)).toEqual([{ content: { role: "model" }, finishReason: "STOP", index: 0 }]);
    expect((await last({ finish: "filtered" })).map(candidateIn)).toEqual([
      { content: {}, finishReason: "SAFETY", index: 0, safetyRatings: expect.any(Array) },
    ]);
  });

  it("reports an error in Google's envelope, as an event or as the end of the list", async () => {
    const faults = [{ fault: { type: "stream-error", after: 1, status: 503 } as const }];
    const error = { error: { code: 503, message: "Overloaded", status: "UNAVAILABLE" } };
    const { stream } = createClient("google", { faults });
    const events = eventsIn((await stream("gemini-3.8-flash", hello)).text);
    const list: unknown = JSON.parse((await stream("gemini-3.8-flash", hello, "")).text);

    expect(events.at(-1)).toEqual(error);
    expect(list).toEqual([expect.anything(), error]);
  });
});
