import { describe, expect, it } from "vitest";
import type { Json } from "../family.ts";
import { longText, createClient, picture, result, send, tools, user } from "./client.cases.ts";

const caller = (...ids: readonly string[]): Json => ({
  role: "assistant",
  content: "",
  tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "snap", arguments: "{}" } })),
});

describe("a broken request is refused", () => {
  const unanswered = { messages: [user("one"), caller("call_1"), user("two")], ...tools("snap") };
  const sentence =
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.";
  const uuid = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);

  it.each<[string, string, Json, number, Json]>([
    [
      "openai-chat",
      "a call without a result",
      unanswered,
      400,
      {
        error: {
          message: `${sentence} The following tool_call_ids did not have response messages: call_1`,
          type: "invalid_request_error",
          param: "messages[1].tool_calls[0]",
          code: null,
        },
      },
    ],
    [
      "openai-chat",
      "an image in a result",
      { messages: [user("one"), caller("call_1"), result("call_1", [picture])], ...tools("snap") },
      400,
      {
        error: {
          message:
            "Invalid 'messages[2]'. Image URLs are only allowed for messages with role 'user', but this message with role 'tool' contains an image URL.",
          type: "invalid_request_error",
          param: "messages[2]",
          code: "invalid_value",
        },
      },
    ],
    [
      "openai-chat",
      "reasoning beside tools",
      { model: "gpt-5.4-mini", messages: [user("one")], ...tools("snap"), reasoning_effort: "low" },
      400,
      {
        error: {
          message:
            "Function tools with reasoning_effort are not supported for gpt-5.4-mini in /v1/chat/completions. Please use /v1/responses instead.",
          type: "invalid_request_error",
          param: "reasoning_effort",
          code: null,
        },
      },
    ],
    [
      "openai-chat",
      "tools for a model that reasons unless told not to",
      { model: "gpt-5.6", messages: [user("one")], ...tools("snap") },
      400,
      {
        error: {
          message:
            "Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
          type: "invalid_request_error",
          param: "reasoning_effort",
          code: null,
        },
      },
    ],
    [
      "openai-chat",
      "sound for a model that does not listen",
      { messages: [user([{ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }])] },
      400,
      {
        error: {
          message: "Invalid 'messages[0]'. Content blocks are expected to be either text or image_url type.",
          type: "invalid_request_error",
          param: "messages[0]",
          code: "invalid_value",
        },
      },
    ],
    [
      "openai-chat",
      "an empty list of tools",
      { messages: [user("one")], tools: [] },
      400,
      {
        error: {
          message:
            "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
          type: "invalid_request_error",
          param: "tools",
          code: "empty_array",
        },
      },
    ],
    [
      "openai-chat",
      "a limit the model does not know",
      { messages: [user("one")], max_tokens: 5 },
      400,
      {
        error: {
          message:
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
          type: "invalid_request_error",
          param: "max_tokens",
          code: "unsupported_parameter",
        },
      },
    ],
    [
      "groq",
      "reasoning in another vendor's field",
      { messages: [user("one"), { role: "assistant", content: "two", reasoning_content: "hm" }, user("three")] },
      400,
      {
        error: {
          message:
            "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]",
          type: "invalid_request_error",
        },
      },
    ],
    [
      "groq",
      "a picture for a model that reads",
      { messages: [user([{ type: "text", text: "Look." }, picture])] },
      400,
      {
        error: {
          message:
            "'messages.0' : for 'role:user' the following must be satisfied[('messages.0.content' : value must be a string)]",
          type: "invalid_request_error",
        },
      },
    ],
    [
      "mistral",
      "an id of another vendor",
      { messages: [user("one"), caller("call_1"), result("call_1", "x")], ...tools("snap") },
      400,
      {
        object: "error",
        message: "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.",
        type: "invalid_function_call",
        param: null,
        code: "3280",
        raw_status_code: 400,
      },
    ],
    [
      "mistral",
      "a field it does not know",
      { messages: [user("one")], store: false },
      422,
      { detail: [{ type: "extra_forbidden", loc: ["body", "store"], msg: "Extra inputs are not permitted" }] },
    ],
    [
      "mistral",
      "reasoning in a field",
      { messages: [user("one"), { role: "assistant", content: "two", reasoning_content: "hm" }, user("three")] },
      422,
      {
        detail: [
          {
            type: "extra_forbidden",
            loc: ["body", "messages", 1, "reasoning_content"],
            msg: "Extra inputs are not permitted",
          },
        ],
      },
    ],
    [
      "deepseek",
      "reasoning that did not come back",
      { messages: [user("one"), caller("call_1"), result("call_1", "x")], ...tools("snap") },
      400,
      {
        error: {
          message: "The `reasoning_content` in the thinking mode must be passed back to the API.",
          type: "invalid_request_error",
          param: null,
          code: "invalid_request_error",
        },
      },
    ],
    [
      "deepseek",
      "a picture for a model that reads",
      { messages: [user([picture])] },
      400,
      {
        error: {
          message:
            "Failed to deserialize the JSON body into the target type: messages[0]: unknown variant `image_url`, expected `text`",
          type: "invalid_request_error",
          param: null,
          code: "invalid_request_error",
        },
      },
    ],
    [
      "kimi",
      "reasoning that did not come back",
      { messages: [user("one"), caller("call_1"), result("call_1", "x")], ...tools("snap") },
      400,
      {
        error: {
          message: "thinking is enabled but reasoning_content is missing in assistant tool call message at index 1",
          type: "invalid_request_error",
        },
      },
    ],
    [
      "qwen",
      "a call without a result",
      unanswered,
      400,
      {
        error: {
          message: `<400> InternalError.Algo.InvalidParameter: ${sentence.replaceAll("'", '"')}`,
          type: "invalid_request_error",
          param: null,
          code: "invalid_parameter_error",
        },
        request_id: uuid,
      },
    ],
    [
      "zai",
      "a request without a key",
      { messages: [{ role: "system", content: "Be brief." }] },
      400,
      {
        error: { code: "1214", message: "The messages parameter is illegal. Please check the documentation." },
      },
    ],
    [
      "minimax",
      "a result without a call",
      { messages: [user("one"), result("call_1", "x")] },
      400,
      {
        type: "error",
        error: {
          type: "bad_request_error",
          message: "invalid params, tool call and result not match (2013)",
          http_code: "400",
        },
        request_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      },
    ],
    [
      "cohere",
      "a result without a call",
      { messages: [user("one"), result("call_1", "x")] },
      400,
      {
        id: uuid,
        message:
          "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
      },
    ],
    [
      "local",
      "a picture given by address",
      {
        model: "qwen3-vl",
        messages: [user([{ type: "image_url", image_url: { url: "https://example.com/a.png" } }])],
      },
      400,
      {
        error: {
          message: "image URLs are not currently supported, please use base64 encoded data instead",
          type: "invalid_request_error",
          param: null,
          code: null,
        },
      },
    ],
    [
      "openrouter",
      "a picture for a model that reads",
      { model: "deepseek/deepseek-v4-flash", messages: [user([picture])] },
      404,
      {
        error: { message: "No endpoints found that support image input", code: 404 },
        user_id: "user_2zsimulated",
      },
    ],
  ])("by %s: %s", async (provider, _fault, body, status, answer) => {
    const reply = await createClient(provider).ask(body);

    expect([reply.status, reply.body]).toEqual([status, answer]);
  });
});

describe("failed checks are worded as each vendor does", () => {
  const small: Json = { messages: [user(longText(1_100_000))] };

  it.each<[string, string, Json, number, Json]>([
    [
      "openai-chat",
      "context",
      small,
      400,
      {
        error: {
          message:
            "This model's maximum context length is 400000 tokens. However, your messages resulted in 1100003 tokens. Please reduce the length of the messages.",
          type: "invalid_request_error",
          param: "messages",
          code: "context_length_exceeded",
        },
      },
    ],
    [
      "kimi",
      "context",
      small,
      400,
      {
        error: {
          message: "Invalid request: Your request exceeded model token limit: 262144 (requested: 1100003)",
          type: "invalid_request_error",
        },
      },
    ],
    [
      "mistral",
      "context",
      small,
      400,
      {
        object: "error",
        message: "Prompt contains 1100003 tokens, too large for model with 262144 maximum context length",
        type: "invalid_request_prompt",
        param: null,
        code: "3051",
        raw_status_code: 400,
      },
    ],
    ["zai", "context", small, 400, { error: { code: "1261", message: "Prompt exceeds max length" } }],
    [
      "groq",
      "no-model",
      { model: "nonsense", messages: [user("hi")] },
      404,
      {
        error: {
          message: "The model `nonsense` does not exist or you do not have access to it.",
          type: "invalid_request_error",
          code: "model_not_found",
        },
      },
    ],
    [
      "openrouter",
      "no-model",
      { model: "nonsense", messages: [user("hi")] },
      400,
      { error: { message: "nonsense is not a valid model ID", code: 400 }, user_id: "user_2zsimulated" },
    ],
    [
      "deepseek",
      "no-model",
      { model: "nonsense", messages: [user("hi")] },
      400,
      {
        error: {
          message: "Model Not Exist",
          type: "invalid_request_error",
          param: null,
          code: "invalid_request_error",
        },
      },
    ],
    [
      "zai",
      "no-model",
      { model: "nonsense", messages: [user("hi")] },
      400,
      { error: { code: "1211", message: "Unknown Model, please check the model code." } },
    ],
    [
      "local",
      "no-model",
      { model: "nonsense", messages: [user("hi")] },
      404,
      { error: { message: "model 'nonsense' not found", type: "not_found_error", param: null, code: null } },
    ],
  ])("%s: %s", async (provider, _door, body, status, answer) => {
    const reply = await createClient(provider).ask(body);

    expect([reply.status, reply.body]).toEqual([status, answer]);
  });

  it.each<[string, Json]>([
    [
      "openai-chat",
      {
        error: {
          message:
            "Incorrect API key provided: key-0123****6789. You can find your API key at https://platform.openai.com/account/api-keys.",
          type: "invalid_request_error",
          param: null,
          code: "invalid_api_key",
        },
      },
    ],
    ["openrouter", { error: { message: "User not found.", code: 401 } }],
    ["mistral", { detail: "Unauthorized" }],
    ["kimi", { error: { message: "Invalid Authentication", type: "invalid_authentication_error" } }],
    [
      "deepseek",
      {
        error: {
          message: "Authentication Fails, Your api key: ****6789 is invalid",
          type: "authentication_error",
          param: null,
          code: "invalid_request_error",
        },
      },
    ],
  ])("%s does not know the key", async (provider, answer) => {
    const reply = await createClient(provider, { keys: ["another"] }).ask({ messages: [user("hi")] });

    expect([reply.status, reply.body]).toEqual([401, answer]);
  });

  it("a local server needs no key", async () => {
    const { simulator } = createClient("local", { keys: ["secret"] });
    const body = JSON.stringify({ model: "qwen3", messages: [user("hi")] });

    expect(
      (await send(simulator, { method: "POST", url: "http://localhost/v1/chat/completions", headers: {}, body }))
        .status,
    ).toBe(200);
  });

  it("errors have rate limit and request id headers", async () => {
    const faults = [{ fault: { type: "status" as const, status: 429, headers: { "retry-after": "7" } } }];
    const { status, headers, body } = await createClient("groq", { faults }).ask({ messages: [user("hi")] });

    expect([status, headers["retry-after"], headers["x-ratelimit-limit-tokens"]]).toEqual([429, "7", "250000"]);
    expect(headers["x-request-id"]).toMatch(/^req_01[0-9a-f]{24}$/);
    expect(body).toEqual({
      error: {
        message: "Rate limit reached. Please try again later.",
        type: "tokens",
        code: "rate_limit_exceeded",
      },
    });
  });
});
