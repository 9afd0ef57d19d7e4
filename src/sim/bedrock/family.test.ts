import { describe, expect, it } from "vitest";
import {
  followUp,
  budget,
  contentOf,
  fable,
  image,
  llama,
  loop,
  messagesOf,
  nova,
  createClient,
  pdf,
  question,
  result,
  sonnet,
  thinking,
  usageIn,
  user,
  verdict,
  withMessage,
  wordsIn,
} from "./client.cases.ts";
import type { Json } from "../family.ts";
import { asArray, asObject } from "../json.ts";

const seal = expect.stringMatching(/^[A-Za-z0-9+/]{60,}=*$/);
const toolUseId = expect.stringMatching(/^tooluse_[\w-]{22}$/);

describe("a tool loop over Converse", () => {
  it("answers with signed reasoning, text and parallel calls", async () => {
    const { ask } = createClient({ script: loop });

    const { status, headers, body } = await ask(sonnet, { ...question, ...budget });

    expect({ status, headers, body }).toEqual({
      status: 200,
      headers: { "content-type": "application/json", "x-amzn-requestid": "00000000-0000-4000-8000-000000000001" },
      body: {
        metrics: { latencyMs: 521 },
        output: {
          message: {
            content: [
              { reasoningContent: { reasoningText: { signature: seal, text: "Two files to read." } } },
              { text: "I will look." },
              { toolUse: { input: { path: "a.png" }, name: "snap", toolUseId, type: "tool_use" } },
              { toolUse: { input: {}, name: "stat", toolUseId, type: "tool_use" } },
            ],
            role: "assistant",
          },
        },
        stopReason: "tool_use",
        usage: {
          cacheReadInputTokenCount: 0,
          cacheReadInputTokens: 0,
          cacheWriteInputTokenCount: 0,
          cacheWriteInputTokens: 0,
          inputTokens: 73,
          outputTokens: 31,
          serverToolUsage: {},
          totalTokens: 104,
        },
      },
    });
  });

  it("streams frames with start events for calls only, and usage at the end", async () => {
    const { stream } = createClient({ script: loop });

    const frames = await stream(sonnet, { ...question, ...budget });

    const event = (type: string, body: Json): unknown => ({
      headers: { ":event-type": type, ":content-type": "application/json", ":message-type": "event" },
      body: { ...body, p: expect.stringMatching(/^abc?/) },
    });
    const deltas = (contentBlockIndex: number, ...all: readonly Json[]): readonly unknown[] =>
      all.map((delta) => event("contentBlockDelta", { contentBlockIndex, delta }));
    expect(frames).toEqual([
      event("messageStart", { role: "assistant" }),
      ...deltas(
        0,
        { reasoningContent: { text: "Two" } },
        { reasoningContent: { text: " files to read." } },
        { reasoningContent: { signature: seal } },
      ),
      event("contentBlockStop", { contentBlockIndex: 0 }),
      ...deltas(1, { text: "I" }, { text: " will look." }),
      event("contentBlockStop", { contentBlockIndex: 1 }),
      event("contentBlockStart", {
        contentBlockIndex: 2,
        start: { toolUse: { name: "snap", toolUseId, type: "tool_use" } },
      }),
      ...deltas(2, { toolUse: { input: '{"path":"' } }, { toolUse: { input: 'a.png"}' } }),
      event("contentBlockStop", { contentBlockIndex: 2 }),
      event("contentBlockStart", {
        contentBlockIndex: 3,
        start: { toolUse: { name: "stat", toolUseId, type: "tool_use" } },
      }),
      event("contentBlockStop", { contentBlockIndex: 3 }),
      event("messageStop", { stopReason: "tool_use" }),
      event("metadata", {
        metrics: { latencyMs: 521 },
        usage: expect.objectContaining({ inputTokens: 73, outputTokens: 31, totalTokens: 104 }),
      }),
    ]);
  });

  it.each([fable, sonnet, nova, llama])("accepts results with an image: %s", async (model) => {
    const server = createClient({ script: loop });
    const settings = model === fable ? thinking : model === sonnet ? budget : {};

    const reply = await server.ask(model, await followUp(server, model, { ...question, ...settings }));

    expect([reply.status, wordsIn(reply)]).toEqual([
      200,
      'snap returned: "a picture". I see image image/png of 100x75 pixels (29 bytes). stat returned: "ENOENT".',
    ]);
  });

  it("loses a PDF alone in a result of Claude, and reads it beside the results", async () => {
    const server = createClient({ script: loop });
    const plain = await followUp(server, sonnet, question);
    const calls = asArray(messagesOf(plain)[1]?.["content"]).map(asObject).slice(-2);
    const asked = async (...blocks: readonly Json[]): Promise<unknown> => {
      const reply = await server.ask(
        sonnet,
        withMessage(plain, 2, () => user(...blocks)),
      );
      return [wordsIn(reply), usageIn(reply)["inputTokens"]];
    };

    const inside = await asked(result(calls[0], pdf), result(calls[1], { text: "ok" }));
    const beside = await asked(
      result(calls[0], { text: "See report." }),
      result(calls[1], { text: "ok" }),
      { text: "The report:" },
      pdf,
    );

    expect(inside).toEqual(['snap returned: "". stat returned: "ok".', 100]);
    expect(beside).toEqual([
      'snap returned: "See report.". stat returned: "ok". You said: "The report:". I see document application/pdf (32 bytes).',
      3106,
    ]);
  });

  it("thinks only if the model supports it and the request enables it", async () => {
    const { ask } = createClient({ script: loop });
    const kinds = async (model: string, body: Json): Promise<unknown> =>
      contentOf(await ask(model, body)).map((block) => Object.keys(block)[0]);
    const without = ["text", "toolUse", "toolUse"];
    const reasoningConfig = { type: "enabled", maxReasoningEffort: "low" };

    expect(await kinds(sonnet, question)).toEqual(without);
    expect(await kinds(fable, question)).toEqual(["reasoningContent", ...without]);
    expect(await kinds(llama, question)).toEqual(without);
    expect(await kinds("us.amazon.nova-2-lite-v1:0", question)).toEqual(without);
    expect(
      await kinds("us.amazon.nova-2-lite-v1:0", { ...question, additionalModelRequestFields: { reasoningConfig } }),
    ).toEqual(["reasoningContent", ...without]);
  });

  it("returns unsigned reasoning of open models, and starts their streams with an empty block", async () => {
    const { ask, stream } = createClient({ script: loop });
    const model = "openai.gpt-oss-120b-1:0";

    expect(contentOf(await ask(model, question))[0]).toEqual({
      reasoningContent: { reasoningText: { text: "Two files to read." } },
    });
    expect((await stream(model, question)).slice(1, 3).map(({ body: { p: _p, ...body } }) => body)).toEqual([
      { contentBlockIndex: 0, delta: { text: "" } },
      { contentBlockIndex: 0 },
    ]);
  });
});

describe("a response of Bedrock ends", () => {
  it.each([
    ["length", "max_tokens"],
    ["filtered", "content_filtered"],
    ["malformed", "malformed_tool_use"],
    ["context", "model_context_window_exceeded"],
  ] as const)("%s: %s", async (finish, stopReason) => {
    const { ask } = createClient({ script: { rules: [], otherwise: { say: "So far", finish } } });

    expect((await ask(sonnet, { messages: [user("Go.")] })).body["stopReason"]).toBe(stopReason);
  });

  it("at the limit the request sets", async () => {
    const { ask } = createClient({ script: { rules: [], otherwise: { say: "one two three four five six" } } });

    const reply = await ask(sonnet, { messages: [user("Go.")], inferenceConfig: { maxTokens: 3 } });

    expect([wordsIn(reply), reply.body["stopReason"]]).toEqual(["one two thre", "max_tokens"]);
  });

  it.each([
    [429, "throttlingException"],
    [503, "serviceUnavailableException"],
    [500, "internalServerException"],
    [424, "modelStreamErrorException"],
    [400, "validationException"],
  ])("with an exception in the middle of a stream: %i", async (status, name) => {
    const { stream } = createClient({
      faults: [{ fault: { type: "stream-error", after: 2, status, message: "Stop." } }],
    });

    expect((await stream(sonnet, { messages: [user("Go.")] })).at(-1)).toEqual({
      headers: { ":exception-type": name, ":content-type": "application/json", ":message-type": "exception" },
      body: { message: "Stop." },
    });
  });

  it.each([
    [{ status: 429 }, 429, "ThrottlingException"],
    [{ status: 429, kind: "quota" as const }, 400, "ServiceQuotaExceededException"],
    [{ status: 503 }, 503, "ServiceUnavailableException"],
    [{ status: 500 }, 500, "InternalServerException"],
    [{ status: 403 }, 403, "AccessDeniedException"],
    [{ status: 408 }, 408, "ModelTimeoutException"],
    [{ status: 424 }, 424, "ModelErrorException"],
  ])("before it starts: %j", async (fault, status, name) => {
    const server = createClient({ faults: [{ fault: { type: "status", message: "Stop.", ...fault } }] });

    expect(await verdict(server, sonnet, { messages: [user("Go.")] })).toEqual([status, name, "Stop."]);
  });
});

describe("besides Converse, Bedrock", () => {
  it("counts tokens for Claude only", async () => {
    const { ask } = createClient();
    const body = { input: { converse: { messages: [user("How long is this?", image)] } } };

    expect((await ask(sonnet, body, "count-tokens")).body).toEqual({ inputTokens: 90 });
    expect((await ask(nova, body, "count-tokens")).body).toEqual({
      message: "The provided model doesn't support counting tokens.",
    });
    expect((await ask(sonnet, { input: { converse: { messages: [user(" ")] } } }, "count-tokens")).status).toBe(400);
  });

  it("lists models and inference profiles", async () => {
    const { send } = createClient();
    const get = async (path: string): Promise<Json> => (await send({ url: `https://localhost${path}` })).body;
    const model = {
      customizationsSupported: [],
      inferenceTypesSupported: ["INFERENCE_PROFILE"],
      inputModalities: ["TEXT"],
      modelArn: "arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-micro-v1:0",
      modelId: "amazon.nova-micro-v1:0",
      modelLifecycle: { status: "ACTIVE" },
      modelName: "nova-micro-v1:0",
      outputModalities: ["TEXT"],
      providerName: "Amazon",
      responseStreamingSupported: true,
    };

    expect(asArray((await get("/foundation-models"))["modelSummaries"])).toContainEqual(model);
    expect(await get("/foundation-models/amazon.nova-micro-v1%3A0")).toEqual({ modelDetails: model });
    expect(asArray((await get("/inference-profiles"))["inferenceProfileSummaries"])).toContainEqual(
      expect.objectContaining({ inferenceProfileId: fable, status: "ACTIVE", type: "SYSTEM_DEFINED" }),
    );
  });

  it("accepts an escaped profile name as a model", async () => {
    const { ask } = createClient();
    const arn = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc";

    expect((await ask(arn, { messages: [user("Go.")] })).status).toBe(200);
  });
});
