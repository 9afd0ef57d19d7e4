import { describe, expect, it } from "vitest";
import { candidateIn, contentIn, model, createClient, partsIn, pdf, png, send, tools, user } from "./client.cases.ts";
import { asObject } from "../json.ts";
import type { SimModelRequest } from "../model/types.ts";
import type { Script } from "../model/script.ts";

const loop: Script = {
  rules: [
    {
      prompt: "look",
      replies: [
        {
          think: "Two files to read.",
          say: "I will look.",
          call: [
            { tool: "snap", input: { path: "a.png" } },
            { tool: "stat", input: { path: "b" } },
          ],
        },
      ],
    },
  ],
};

const question = { contents: [user("Please look.")], ...tools("snap", "stat") };
const sealed = expect.stringMatching(/^[A-Za-z0-9+/=]{60,}$/);

describe("a tool loop with Gemini", () => {
  it("answers with text and parallel calls, the first of them signed", async () => {
    const { ask } = createClient("google", { script: loop });

    expect(await ask("gemini-3.8-flash", question)).toEqual({
      status: 200,
      type: "application/json",
      body: {
        candidates: [
          {
            content: {
              parts: [
                { text: "I will look." },
                {
                  functionCall: { name: "snap", args: { path: "a.png" }, id: "00001002" },
                  thoughtSignature: sealed,
                },
                { functionCall: { name: "stat", args: { path: "b" }, id: "00001003" } },
              ],
              role: "model",
            },
            finishReason: "STOP",
            index: 0,
            finishMessage: "Model generated function call(s).",
          },
        ],
        usageMetadata: {
          promptTokenCount: 75,
          candidatesTokenCount: 28,
          totalTokenCount: 108,
          promptTokensDetails: [{ modality: "TEXT", tokenCount: 75 }],
          thoughtsTokenCount: 5,
          serviceTier: "standard",
        },
        modelVersion: "gemini-3.8-flash",
        responseId: "c2ltdWxhdGVkLTAwMDAwMDE",
      },
    });
  });

  it("accepts results with an image inside, and counts it as an image", async () => {
    const { ask } = createClient("google", { script: loop });
    const { body } = await ask("gemini-3.8-flash", question);
    const results = user(
      {
        functionResponse: {
          id: "00001002",
          name: "snap",
          response: { output: "a picture" },
          parts: [{ inlineData: { mimeType: "image/png", data: png } }],
        },
      },
      { functionResponse: { id: "00001003", name: "stat", response: { error: "ENOENT" } } },
    );
    const answer = await ask("gemini-3.8-flash", {
      ...question,
      contents: [...question.contents, contentIn(body), results],
    });

    expect(partsIn(answer.body)).toEqual([
      {
        text: 'snap returned: "a picture". I see image image/png of 100x75 pixels (29 bytes). stat failed: "ENOENT".',
        thoughtSignature: sealed,
      },
    ]);
    expect(asObject(answer.body["usageMetadata"])["promptTokensDetails"]).toEqual([
      { modality: "TEXT", tokenCount: expect.any(Number) },
      { modality: "IMAGE", tokenCount: 85 },
    ]);
  });

  it("returns thoughts only on request", async () => {
    const { ask } = createClient("google", { script: loop });
    const config = { generationConfig: { thinkingConfig: { include_thoughts: true } } };
    const { body } = await ask("gemini-3.8-flash", { ...question, ...config });

    expect(partsIn(body)[0]).toEqual({ text: "Two files to read.", thought: true });
    expect(partsIn(body)).toHaveLength(4);
  });

  it("sends no ids before Gemini 3.5, and pairs calls and results without them", async () => {
    const { ask } = createClient("google", { script: loop });
    const { body } = await ask("gemini-2.5-flash", question);
    const results = user(
      { functionResponse: { name: "stat", response: { size: 3 } } },
      { functionResponse: { name: "snap", response: { output: "done" } } },
    );
    const answer = await ask("gemini-2.5-flash", {
      ...question,
      contents: [...question.contents, contentIn(body), results],
    });

    expect(partsIn(body).slice(1)).toEqual([
      { functionCall: { name: "snap", args: { path: "a.png" } }, thoughtSignature: sealed },
      { functionCall: { name: "stat", args: { path: "b" } } },
    ]);
    expect(partsIn(answer.body)).toEqual([{ text: 'stat returned: "{\\"size\\":3}". snap returned: "done".' }]);
  });

  it("parses the turns without thoughts, and pairs a result without an id by name", async () => {
    const heard: SimModelRequest[] = [];
    const { ask } = createClient("google", { script: (asked) => (heard.push(asked), { parts: [] }) });
    const contents = [
      user("Read both."),
      user({ inlineData: { mimeType: "image/png", data: png } }),
      model(
        { text: "Hm.", thought: true },
        { text: "Yes." },
        { functionCall: { name: "snap", args: { path: "a" } } },
        { functionCall: { name: "stat" } },
      ),
      user(
        { functionResponse: { name: "stat", response: {} } },
        { functionResponse: { name: "snap", response: { output: { size: 3 } } } },
      ),
      user("Well?"),
    ];
    const generationConfig = { maxOutputTokens: 50, thinkingConfig: { thinkingBudget: 0 } };
    await ask("gemini-2.5-flash", {
      contents,
      generationConfig,
      system_instruction: { parts: [{ text: "Be brief." }, { text: "Be kind." }] },
      tools: [{ function_declarations: [{ name: "snap", description: "d" }] }],
    });

    expect(heard).toEqual([
      {
        model: "gemini-2.5-flash",
        system: "Be brief.\nBe kind.",
        tools: [{ name: "snap", description: "d", parameters: undefined }],
        turns: [
          {
            by: "user",
            text: "Read both.",
            files: [{ kind: "image", mimeType: "image/png", bytes: 29, width: 100, height: 75 }],
          },
          {
            by: "model",
            text: "Yes.",
            calls: [
              { id: "call-1-0", tool: "snap", input: { path: "a" } },
              { id: "call-1-1", tool: "stat", input: {} },
            ],
          },
          {
            by: "tools",
            results: [
              { id: "call-1-1", tool: "stat", text: "", isError: false, files: [] },
              { id: "call-1-0", tool: "snap", text: '{"size":3}', isError: false, files: [] },
            ],
          },
          { by: "user", text: "Well?", files: [] },
        ],
        serverTools: [],
        maxOutput: 50,
        mayThink: false,
      },
    ]);
  });

  it("answers a result without a matching call with an empty candidate", async () => {
    const { ask } = createClient("google");
    const contents = [
      user("Go."),
      model({
        functionCall: { id: "a", name: "snap", args: {} },
        thoughtSignature: "skip_thought_signature_validator",
      }),
      user({ functionResponse: { id: "b", name: "snap", response: { output: "x" } } }),
    ];
    const { status, body } = await ask("gemini-3.6-flash", { contents, ...tools("snap") });

    expect(status).toBe(200);
    expect(body["candidates"]).toEqual([{ content: { role: "model" }, finishReason: "STOP", index: 0 }]);
    expect(Object.keys(asObject(body["usageMetadata"]))).not.toContain("candidatesTokenCount");
  });
});

describe("files that reach Gemini", () => {
  const nested = (part: object): object => ({
    contents: [
      user("Go."),
      model({
        functionCall: { id: "a", name: "snap", args: {} },
        thoughtSignature: "skip_thought_signature_validator",
      }),
      user({ functionResponse: { id: "a", name: "snap", response: { output: "x" }, parts: [part] } }),
    ],
    ...tools("snap"),
  });
  const details = async (provider: string, name: string, body: object): Promise<unknown> =>
    asObject((await createClient(provider).ask(name, { ...body })).body["usageMetadata"])["promptTokensDetails"];
  const text = { modality: "TEXT", tokenCount: expect.any(Number) };

  it("counts a document as images on Gemini 3 and as a document on 2.5", async () => {
    const body = { contents: [user("Read.", { inlineData: { mimeType: "application/pdf", data: pdf } })] };

    expect(await details("google", "gemini-3-flash-preview", body)).toEqual([
      text,
      { modality: "IMAGE", tokenCount: 3000 },
    ]);
    expect(await details("google", "gemini-2.5-flash", body)).toEqual([
      text,
      { modality: "DOCUMENT", tokenCount: 3000 },
    ]);
  });

  it("loses a file given by URL inside a response on the Gemini API, and reads it on Vertex", async () => {
    const file = { fileData: { mimeType: "image/png", fileUri: "gs://bucket/a.png" } };

    expect(await details("google", "gemini-3.8-flash", nested(file))).toEqual([text]);
    expect(await details("vertex", "gemini-3.8-flash", nested(file))).toEqual([
      text,
      { modality: "IMAGE", tokenCount: 258 },
    ]);
  });

  it("reads a text file as text", async () => {
    const data = Buffer.from("grapes").toString("base64");
    const { ask } = createClient("google");
    const answer = await ask("gemini-3.8-flash", nested({ inlineData: { mimeType: "text/plain", data } }) as never);

    expect(partsIn(answer.body)[0]).toMatchObject({ text: 'snap returned: "x\\ngrapes".' });
  });

  it("reports the cached part of a long prompt by modality", async () => {
    const { ask } = createClient("google");
    const long = "word ".repeat(4000);
    const opening = user(long, { inlineData: { mimeType: "image/png", data: png } });
    await ask("gemini-3.8-flash", { contents: [opening] });
    const { body } = await ask("gemini-3.8-flash", { contents: [opening, user("And now?")] });

    expect(body["usageMetadata"]).toMatchObject({
      promptTokenCount: 5087,
      cachedContentTokenCount: 5085,
      cacheTokensDetails: [
        { modality: "TEXT", tokenCount: 5000 },
        { modality: "IMAGE", tokenCount: 85 },
      ],
    });
  });
});

describe("a response of Gemini ends", () => {
  const ends = async (name: string, reply: object): Promise<unknown> => {
    const { ask } = createClient("google", { script: { rules: [{ replies: [reply] }] } });
    const { content: _, ...rest } = candidateIn((await ask(name, question)).body);
    return rest;
  };

  it.each([
    ["length", { finishReason: "MAX_TOKENS", index: 0 }],
    ["context", { finishReason: "MAX_TOKENS", index: 0 }],
    ["filtered", { finishReason: "SAFETY", index: 0, safetyRatings: expect.any(Array) }],
    ["paused", { finishReason: "CONTINUATION", index: 0, continuationToken: "Y29udGludWUtMQ" }],
  ] as const)("with its own finish reason for %s", async (finish, expected) => {
    expect(await ends("gemini-4-argon", { say: "Well,", finish })).toEqual(expected);
  });

  it("with a malformed call in finishMessage, not in the content", async () => {
    const call = { tool: "snap", input: { path: "a" } };

    expect(await ends("gemini-3.8-flash", { call, finish: "malformed" })).toEqual({
      finishReason: "MALFORMED_FUNCTION_CALL",
      index: 0,
      finishMessage: 'Malformed function call: print(default_api.snap("path":"a"}',
    });
  });

  it("with an error for a call of an undeclared function", async () => {
    expect(await ends("gemini-3.8-flash", { call: { tool: "list", input: {} } })).toEqual({
      finishReason: "UNEXPECTED_TOOL_CALL",
      index: 0,
      finishMessage: "Unexpected tool call: Model tried to call an undeclared function: list",
    });
  });

  it("without a candidate for a blocked prompt", async () => {
    const { ask } = createClient("google", { script: { rules: [{ replies: [{ finish: "refused" }] }] } });
    const { status, body } = await ask("gemini-3.8-flash", { contents: [user("Hello.")] });

    expect(status).toBe(200);
    expect(body).toEqual({
      promptFeedback: { blockReason: "PROHIBITED_CONTENT" },
      usageMetadata: {
        promptTokenCount: 2,
        totalTokenCount: 2,
        promptTokensDetails: [{ modality: "TEXT", tokenCount: 2 }],
        serviceTier: "standard",
      },
      modelVersion: "gemini-3.8-flash",
      responseId: "c2ltdWxhdGVkLTAwMDAwMDE",
    });
  });
});

describe("server tools", () => {
  const script: Script = {
    rules: [
      {
        replies: [
          {
            parts: [
              { type: "say", text: "Grüße. " },
              {
                type: "cite",
                text: "Es regnet.",
                query: "Wetter",
                sources: [{ title: "wetter.example", uri: "https://wetter.example/" }],
              },
            ],
          },
        ],
      },
    ],
  };

  it("report the search queries, and which bytes of the text are grounded", async () => {
    const { ask } = createClient("google", { script });
    const { body } = await ask("gemini-3.8-flash", { contents: [user("Wetter?")], tools: [{ googleSearch: {} }] });

    expect(candidateIn(body)).toEqual({
      content: { parts: [{ text: "Grüße. Es regnet.", thoughtSignature: sealed }], role: "model" },
      finishReason: "STOP",
      index: 0,
      groundingMetadata: {
        searchEntryPoint: { renderedContent: expect.stringContaining("Wetter") },
        groundingChunks: [{ web: { uri: "https://wetter.example/", title: "wetter.example" } }],
        groundingSupports: [
          { segment: { startIndex: 9, endIndex: 19, text: "Es regnet." }, groundingChunkIndices: [0] },
        ],
        webSearchQueries: ["Wetter"],
      },
    });
  });

  it("include their calls on request, and accept them back", async () => {
    const { ask } = createClient("google", { script });
    const request = {
      contents: [user("Wetter?")],
      tools: [{ googleSearch: {} }],
      toolConfig: { includeServerSideToolInvocations: true },
    };
    const { body } = await ask("gemini-3.8-flash", request);
    const again = await ask("gemini-3.8-flash", {
      ...request,
      contents: [...request.contents, contentIn(body), user("Und morgen?")],
    });

    expect(partsIn(body).map((part) => Object.keys(part))).toEqual([
      ["text"],
      ["thoughtSignature", "toolCall"],
      ["thoughtSignature", "toolResponse"],
      ["text", "thoughtSignature"],
    ]);
    expect(again.status).toBe(200);
  });

  it("report the pages they read, and count them separately from the prompt", async () => {
    const { ask } = createClient("vertex");
    const { body } = await ask("gemini-2.5-flash", {
      contents: [user("What does https://example.com/a say?")],
      tools: [{ urlContext: {} }],
    });

    expect(candidateIn(body)["urlContextMetadata"]).toEqual({
      urlMetadata: [{ retrievedUrl: "https://example.com/a", urlRetrievalStatus: "URL_RETRIEVAL_STATUS_SUCCESS" }],
    });
    expect(body["usageMetadata"]).toMatchObject({
      toolUsePromptTokenCount: 8,
      toolUsePromptTokensDetails: [{ modality: "TEXT", tokenCount: 8 }],
    });
  });
});

describe("the Gemini endpoints", () => {
  const hello = { contents: [user("Hello.")] };

  it("add timestamps on Vertex, and put the role first", async () => {
    const { body } = await createClient("vertex").ask("gemini-3.8-flash", hello);

    expect(JSON.parse(JSON.stringify(body))).toEqual({
      candidates: [
        {
          content: { role: "model", parts: [{ text: 'You said: "Hello.".', thoughtSignature: sealed }] },
          finishReason: "STOP",
          avgLogprobs: -0.25,
        },
      ],
      usageMetadata: {
        promptTokenCount: 2,
        candidatesTokenCount: 5,
        totalTokenCount: 7,
        trafficType: "ON_DEMAND",
        promptTokensDetails: [{ modality: "TEXT", tokenCount: 2 }],
        candidatesTokensDetails: [{ modality: "TEXT", tokenCount: 5 }],
      },
      modelVersion: "gemini-3.8-flash",
      createTime: "2026-11-15T00:00:00.000Z",
      responseId: "c2ltdWxhdGVkLTAwMDAwMDE",
    });
    expect(Object.keys(contentIn(body))).toEqual(["role", "parts"]);
  });

  it("wrap responses at Code Assist, and support its sign-in calls", async () => {
    const { ask } = createClient("code-assist");
    const answer = await ask("gemini-3.8-flash", hello);
    const account = await ask("", {}, "loadCodeAssist");
    const onboarded = await ask("", {}, "onboardUser");

    expect(Object.keys(answer.body)).toEqual(["response", "traceId"]);
    expect(partsIn(asObject(answer.body["response"]))).toEqual([
      { text: 'You said: "Hello.".', thoughtSignature: sealed },
    ]);
    expect(account.body["cloudaicompanionProject"]).toBe("simulated-project");
    expect(onboarded.body["done"]).toBe(true);
  });

  it.each([
    ["google", "/v1beta/models/gemini-3.8-flash:generateContent?key=k", {}],
    ["google", "/v1/models/gemini-3.8-flash:generateContent", { "x-goog-api-key": "k" }],
    ["google", "/v1alpha/models/gemini-3.8-flash%3AgenerateContent", { "x-goog-api-key": "k" }],
    ["vertex", "/v1beta1/publishers/google/models/gemini-3.8-flash:generateContent", { "x-goog-api-key": "k" }],
    [
      "vertex",
      "/v1beta1/projects/p/locations/l/publishers/google/models/gemini-3.8-flash:generateContent",
      { authorization: "Bearer t" },
    ],
  ])("serve %s under %s", async (provider, path, headers) => {
    const url = `https://localhost${path}`;
    const request = { method: "POST", url, headers, body: JSON.stringify(hello) } as const;

    expect((await send(createClient(provider).simulator, request)).status).toBe(200);
  });

  it("serve a retired model by its successor, and name it", async () => {
    const { ask } = createClient("google");
    const versions = ["gemini-3.5-flash", "gemini-3.7-flash", "gemini-flash-latest", "gemini-2.5-pro"].map(
      async (name) => (await ask(name, hello)).body["modelVersion"],
    );

    expect(await Promise.all(versions)).toEqual([
      "gemini-3.6-flash",
      "gemini-3.8-flash",
      "gemini-3.8-flash",
      "gemini-2.5-pro",
    ]);
  });

  it("count tokens, also of a generateContentRequest", async () => {
    const counted = { totalTokens: 2, promptTokensDetails: [{ modality: "TEXT", tokenCount: 2 }] };
    const { ask } = createClient("google");
    const whole = { generateContentRequest: { model: "models/gemini-3.8-flash", ...hello } };

    expect((await ask("gemini-3.8-flash", hello, "countTokens")).body).toEqual(counted);
    expect((await ask("gemini-3.8-flash", whole, "countTokens")).body).toEqual(counted);
    expect((await createClient("vertex").ask("gemini-3.8-flash", hello, "countTokens")).body).toEqual(counted);
    const inside = { model: "models/gemini-3.8-flash", ...hello };
    expect((await createClient("code-assist").ask("", inside, "countTokens")).body).toEqual({ totalTokens: 2 });
  });

  it("list models", async () => {
    const get = async (provider: string, path: string): Promise<unknown> => {
      const url = `https://localhost${path}?key=k`;
      return (await send(createClient(provider).simulator, { method: "GET", url, headers: {} })).body;
    };

    expect(await get("google", "/v1beta/models/gemini-4-argon")).toEqual({
      name: "models/gemini-4-argon",
      version: "4",
      displayName: "Gemini 4 argon",
      description: "A simulated gemini-4-argon",
      inputTokenLimit: 1_048_576,
      outputTokenLimit: 65_536,
      supportedGenerationMethods: ["generateContent", "countTokens"],
      temperature: 1,
      topP: 0.95,
      topK: 64,
      maxTemperature: 2,
      thinking: true,
    });
    expect(asObject(await get("google", "/v1beta/models"))["models"]).toHaveLength(15);
    expect(asObject(await get("vertex", "/v1beta1/publishers/google/models"))["publisherModels"]).toContainEqual({
      name: "publishers/google/models/gemini-2.5-pro",
      versionId: "default",
      launchStage: "GA",
    });
  });
});
