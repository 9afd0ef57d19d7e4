import { describe, expect, it } from "vitest";
import { contentIn, messageIn, model, createClient, pdf, png, send, signatureIn, tools, user } from "./client.cases.ts";
import type { Json } from "../family.ts";
import { asArray, asObject } from "../json.ts";

const skip = "skip_thought_signature_validator";
const call = (id: string, name: string): Json => ({ functionCall: { id, name, args: {} } });
const signed = (part: Json, thoughtSignature = skip): Json => ({ ...part, thoughtSignature });
const result = (id: string, name: string, more: Json = {}): Json => ({
  functionResponse: { id, name, response: { output: "x" }, ...more },
});
const go = user("Go.");
const step = (...parts: readonly Json[]): Json => ({ contents: [go, ...parts], ...tools("snap", "stat") });

const count =
  "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";

describe("a request that Gemini refuses", () => {
  it.each<[string, string, Json, string]>([
    [
      "a call without a signature",
      "gemini-3.8-flash",
      step(model(call("a", "snap")), user(result("a", "snap"))),
      "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly. Additional data, function call `default_api:snap`, position 2.",
    ],
    [
      "a call without a result",
      "gemini-2.5-flash",
      step(model(call("a", "snap"), call("b", "stat")), user(result("a", "snap"))),
      count,
    ],
    [
      "a result without a call",
      "gemini-2.5-flash",
      step(model({ text: "Well." }), user(result("a", "snap"))),
      "Please ensure that function response turn comes immediately after a function call turn.",
    ],
    [
      "words after a result",
      "gemini-3.6-flash",
      step(model(signed(call("a", "snap"))), user(result("a", "snap"), "And?")),
      "Requests ending with a model turn are not supported.",
    ],
    [
      "a last word of its own",
      "gemini-3.8-flash",
      step(model({ text: "The answer is" })),
      "Requests ending with a model turn are not supported.",
    ],
    [
      "a role of another API",
      "gemini-3.8-flash",
      { contents: [go, { role: "assistant", parts: [{ text: "Hi." }] }, go] },
      "Role 'assistant' is not supported. Please use a valid role: user, model.",
    ],
    [
      "a part without data",
      "gemini-3.8-flash",
      { contents: [user({})] },
      "* GenerateContentRequest.contents[0].parts[0].data: required oneof field 'data' must have one initialized field",
    ],
    [
      "a picture in a result on 2.5",
      "gemini-2.5-flash",
      step(
        model(call("a", "snap")),
        user(result("a", "snap", { parts: [{ inlineData: { mimeType: "image/png", data: png } }] })),
      ),
      "Multimodal function responses are not supported for this model",
    ],
    [
      "sound in a result",
      "gemini-3.8-flash",
      step(
        model(signed(call("a", "snap"))),
        user(result("a", "snap", { parts: [{ inlineData: { mimeType: "audio/mpeg", data: pdf } }] })),
      ),
      "Unable to submit request because the mime_type: audio/mpeg is not supported in function_response.parts",
    ],
    [
      "a result that is no object",
      "gemini-3.8-flash",
      step(model(signed(call("a", "snap"))), user(result("a", "snap", { response: "x" }))),
      "Invalid value at 'contents[2].parts[0].function_response.response' (type.googleapis.com/google.protobuf.Struct), \"x\"",
    ],
    [
      "functions beside its own tools on 2.5",
      "gemini-2.5-flash",
      { contents: [go], tools: [...asArray(tools("snap")["tools"]), { googleSearch: {} }] },
      "Tool use with function calling is unsupported by the model.",
    ],
    [
      "a level of thinking it does not have",
      "gemini-3.8-flash",
      { contents: [go], generationConfig: { thinkingConfig: { thinkingLevel: "minimal" } } },
      "Thinking level MINIMAL is not supported for this model.",
    ],
    ["nothing", "gemini-3.8-flash", { contents: [] }, "* GenerateContentRequest.contents: contents is not specified"],
  ])("refuses %s", async (_, name, body, message) => {
    const reply = await createClient("google").ask(name, body);

    expect(reply.status).toBe(400);
    expect(asObject(reply.body["error"])).toMatchObject({ code: 400, message, status: "INVALID_ARGUMENT" });
  });

  it("gets field violations for JSON that cannot be parsed", async () => {
    const description = `Invalid JSON payload received. Unknown name "content" at 'contents[0]': Cannot find field.`;
    const { body } = await createClient("google").ask("gemini-3.8-flash", { contents: [{ ...go, content: "x" }] });

    expect(body).toEqual({
      error: {
        code: 400,
        message: description,
        status: "INVALID_ARGUMENT",
        details: [
          {
            "@type": "type.googleapis.com/google.rpc.BadRequest",
            fieldViolations: [{ field: "contents[0]", description }],
          },
        ],
      },
    });
  });

  it("gets an error for a named cache", async () => {
    const reply = await createClient("google").ask("gemini-2.5-flash", {
      contents: [go],
      cachedContent: "cachedContents/a",
    });

    expect(reply.status).toBe(403);
    expect(messageIn(reply)).toBe("CachedContent not found (or permission denied)");
  });
});

describe("thought signatures", () => {
  const script = { rules: [{ prompt: "Go", replies: [{ call: { tool: "snap", input: {} } }] }] };
  /** A step with a signature of another server. */
  const stepSignedBy = async (provider: string, name: string): Promise<Json> => {
    const { body } = await createClient(provider, { script }).ask(name, { contents: [go], ...tools("snap") });
    return contentIn(body);
  };
  const id = "00001000";
  const verdict = async (name: string, content: Json, ...after: readonly Json[]): Promise<string> => {
    const contents = [go, content, user(result(id, "snap")), ...after];
    const reply = await createClient("google").ask(name, { contents, ...tools("snap") });
    return reply.status === 200 ? "accepted" : messageIn(reply);
  };
  const withSignature = (thoughtSignature: string): Json => model(signed(call(id, "snap"), thoughtSignature));

  it("are accepted back, in either base64 alphabet and without padding", async () => {
    const own = await stepSignedBy("google", "gemini-3.8-flash");
    const letters = signatureIn({ candidates: [{ content: own }] });
    const urlSafe = letters.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

    expect(await verdict("gemini-3.8-flash", own)).toBe("accepted");
    expect(urlSafe).not.toBe(letters);
    expect(await verdict("gemini-3.8-flash", withSignature(urlSafe))).toBe("accepted");
  });

  it("are accepted from a name that is routed to the same model", async () => {
    expect(await verdict("gemini-3.6-flash", await stepSignedBy("google", "gemini-3.5-flash"))).toBe("accepted");
  });

  it("may be the documented placeholders, as text and as base64", async () => {
    for (const word of [skip, "context_engineering_is_the_way_to_go"]) {
      expect(await verdict("gemini-3.8-flash", withSignature(word))).toBe("accepted");
      expect(await verdict("gemini-3.8-flash", withSignature(Buffer.from(word).toString("base64")))).toBe("accepted");
    }
  });

  it("are refused from another model, from another endpoint, changed, or invented", async () => {
    const own = await stepSignedBy("google", "gemini-3.8-flash");
    const letters = signatureIn({ candidates: [{ content: own }] });
    const changed = `${letters.slice(0, 20)}${letters[20] === "A" ? "B" : "A"}${letters.slice(21)}`;

    expect(await verdict("gemini-3.1-pro-preview", own)).toBe("Invalid thought signature");
    expect(await verdict("gemini-3.8-flash", await stepSignedBy("vertex", "gemini-3.8-flash"))).toBe(
      "Corrupted thought signature.",
    );
    expect(await verdict("gemini-3.8-flash", withSignature(changed))).toBe("Corrupted thought signature.");
    expect(await verdict("gemini-3.8-flash", withSignature("c2lnbmF0dXJl"))).toBe("Corrupted thought signature.");
  });

  it("are not checked in earlier turns, nor on Gemini 2.5", async () => {
    const forged = withSignature("c2lnbmF0dXJl");

    expect(await verdict("gemini-3.8-flash", forged, user("And now?"))).toBe("accepted");
    expect(await verdict("gemini-2.5-flash", forged)).toBe("accepted");
  });

  it("are billed by length from Gemini 3.5 on", async () => {
    const tokens = async (name: string, content: Json): Promise<unknown> => {
      const contents = [go, content, user(result(id, "snap")), user("And now?")];
      return (await createClient("google").ask(name, { contents, ...tools("snap") }, "countTokens")).body[
        "totalTokens"
      ];
    };
    const unsigned = model(call(id, "snap"));

    expect(await tokens("gemini-3-flash-preview", withSignature(skip))).toBe(
      await tokens("gemini-3-flash-preview", unsigned),
    );
    expect(await tokens("gemini-3.8-flash", withSignature(skip))).toBe(
      Number(await tokens("gemini-3.8-flash", unsigned)) + 8,
    );
  });
});

describe("the Gemini endpoints refuse in their own wording", () => {
  const doors = ["google", "vertex", "code-assist"] as const;
  const hello = { contents: [go] };
  const errorsAt = (options: Parameters<typeof createClient>[1], name = "gemini-3.8-flash"): Promise<readonly Json[]> =>
    Promise.all(
      doors.map(async (door) => asObject((await createClient(door, options).ask(name, hello)).body["error"])),
    );

  it("an unknown key", async () => {
    const info = "type.googleapis.com/google.rpc.ErrorInfo";

    expect(await errorsAt({ keys: ["other"] })).toMatchObject([
      {
        code: 400,
        message: "API key not valid. Please pass a valid API key.",
        status: "INVALID_ARGUMENT",
        details: [{ "@type": info, reason: "API_KEY_INVALID", domain: "googleapis.com" }, { locale: "en-US" }],
      },
      { code: 401, status: "UNAUTHENTICATED", details: [{ "@type": info, reason: "ACCESS_TOKEN_TYPE_UNSUPPORTED" }] },
      { code: 401, status: "UNAUTHENTICATED", details: [{ domain: "cloudcode-pa.googleapis.com" }] },
    ]);
  });

  it("an unknown model", async () => {
    const errors = await errorsAt({}, "gemini-3.6-flahs");

    expect(errors.map(({ code, status }) => [code, status])).toEqual([
      [404, "NOT_FOUND"],
      [404, "NOT_FOUND"],
      [404, "NOT_FOUND"],
    ]);
    expect(errors[0]?.["message"]).toBe(
      "models/gemini-3.6-flahs is not found for API version v1beta, or is not supported for generateContent. Call ModelService.ListModels to see the list of available models and their supported methods.",
    );
    expect((await errorsAt({}, "gemini-3-pro-preview"))[0]?.["code"]).toBe(404);
  });

  it("requests over the rate limit, with a retry delay", async () => {
    const fault = { type: "status", status: 429, headers: { "retry-after": "7" } } as const;

    expect(await errorsAt({ faults: [{ fault }] })).toMatchObject([
      {
        code: 429,
        status: "RESOURCE_EXHAUSTED",
        details: [
          { violations: [{ quotaId: "GenerateRequestsPerMinutePerProjectPerModel-FreeTier" }] },
          { "@type": "type.googleapis.com/google.rpc.Help" },
          { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "7s" },
        ],
      },
      { code: 429, status: "RESOURCE_EXHAUSTED" },
      { code: 429, details: [{ reason: "RATE_LIMIT_EXCEEDED" }, { retryDelay: "7s" }] },
    ]);
  });

  it("requests over the quota, with a long retry delay", async () => {
    const [google, vertex, codeAssist] = await errorsAt({
      faults: [{ fault: { type: "status", status: 429, kind: "quota" } }],
    });

    expect(google?.["details"]).toMatchObject([
      { violations: [{ quotaId: "GenerateRequestsPerDayPerProjectPerModel-FreeTier" }] },
      {},
      { retryDelay: "33740s" },
    ]);
    expect(vertex).toEqual({ code: 429, message: "You exceeded your current quota.", status: "RESOURCE_EXHAUSTED" });
    expect(codeAssist?.["details"]).toMatchObject([{ reason: "QUOTA_EXHAUSTED" }, { retryDelay: "33740s" }]);
  });

  it("requests without capacity", async () => {
    const errors = await errorsAt({ faults: [{ fault: { type: "status", status: 503 } }] });

    expect(errors.map(({ status }) => status)).toEqual(["UNAVAILABLE", "UNAVAILABLE", "UNAVAILABLE"]);
    expect(errors[2]?.["details"]).toMatchObject([{ reason: "MODEL_CAPACITY_EXHAUSTED" }]);
  });

  it.each([
    ["no key", { body: "{}" }, 403, "Method doesn't allow unregistered callers"],
    ["no JSON", { headers: { "x-goog-api-key": "k" }, body: "{" }, 400, "Invalid JSON payload received."],
    ["no such method", { path: "/v1beta/models/gemini-3.8-flash:speak" }, 404, "Method not found."],
    ["no such version", { path: "/v2/models/gemini-3.8-flash:generateContent" }, 404, "Method not found."],
  ])(
    "a request with %s",
    async (_, { path, ...request }: { path?: string; body?: string; headers?: object }, status, message) => {
      const url = `https://localhost${path ?? "/v1beta/models/gemini-3.8-flash:generateContent"}`;
      const reply = await send(createClient("google").simulator, {
        method: "POST",
        url,
        headers: {},
        ...request,
      } as never);

      expect([reply.status, messageIn(reply).slice(0, message.length)]).toEqual([status, message]);
    },
  );

  it("a prompt that is too long", async () => {
    const reply = await createClient("google").ask("gemini-3.8-flash", { contents: [user("word".repeat(1_048_577))] });

    expect(reply.status).toBe(400);
    expect(messageIn(reply)).toBe(
      "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).",
    );
  });
});
