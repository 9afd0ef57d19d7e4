import { describe, expect, it } from "vitest";
import type { Json } from "../family.ts";
import { asObject, asText } from "../json.ts";
import { type ResponsesTestClient, output, createClient, tools, user } from "./client.cases.ts";

describe("Responses refuses", () => {
  const call = { type: "function_call", call_id: "call_1", name: "snap", arguments: "{}" };
  const refusals: readonly (readonly [string, Json, Json])[] = [
    [
      "a call without its output",
      { input: [user("Go."), call] },
      { message: "No tool output found for function call call_1.", param: "input", code: null },
    ],
    [
      "an output without its call",
      { input: [user("Go."), output({ call_id: "call_9" }, "x")] },
      { message: "No tool call found for function call output with call_id call_9.", param: "input", code: null },
    ],
    [
      "a thought that leads nowhere",
      { input: [{ type: "reasoning", id: "rs_1", summary: [], encrypted_content: "x" }, user("Go.")] },
      {
        message: "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
        param: "input",
        code: null,
      },
    ],
    [
      "a thought that was not stored and comes without its seal",
      { input: [{ type: "reasoning", id: "rs_1", summary: [] }, { ...call }, output(call, "x")], store: false },
      {
        message:
          "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.",
        param: "input",
        code: null,
      },
    ],
    [
      "an id of the wrong kind",
      { input: [user("Go."), { ...call, id: "toolu_1" }, output(call, "x")] },
      {
        message: "Invalid 'input[1].id': 'toolu_1'. Expected an ID that begins with 'fc'.",
        param: "input[1].id",
        code: "invalid_value",
      },
    ],
    [
      "an id that is too long",
      { input: [user("Go."), { ...call, call_id: "c".repeat(65) }, output({ call_id: "c".repeat(65) }, "x")] },
      {
        message:
          "Invalid 'input[1].call_id': string too long. Expected a string with maximum length 64, but got a string with length 65 instead.",
        param: "input[1].call_id",
        code: "string_above_max_length",
      },
    ],
    [
      "sound in a result",
      {
        input: [
          user("Go."),
          call,
          output(call, [{ type: "input_file", filename: "a.mp3", file_data: "data:audio/mpeg;base64,AAAA" }]),
        ],
      },
      {
        message:
          "Invalid file data: 'input[2].output[0].file_data'. Expected a base64-encoded data URL with a valid file MIME type (e.g. 'data:application/pdf;base64,aW1nIGJ5dGVzIGhlcmU='), but got unsupported MIME type 'audio/mpeg'.",
        param: "input[2].output[0].file_data",
        code: "invalid_value",
      },
    ],
    [
      "the address of a sound",
      { input: [user([{ type: "input_file", file_url: "https://example.com/a.mp3" }])] },
      {
        message: "The file type you uploaded is not supported. Please try again with a pdf",
        param: "input",
        code: "unsupported_file",
      },
    ],
    [
      "a field of another API",
      { input: "Go.", max_tokens: 5 },
      {
        message:
          "Unsupported parameter: 'max_tokens'. In the Responses API, this parameter has moved to 'max_output_tokens'. Try again with the new parameter.",
        param: "max_tokens",
        code: "unsupported_parameter",
      },
    ],
    [
      "a temperature below zero",
      { model: "gpt-4o", input: "Go.", temperature: -1 },
      {
        message: "Invalid 'temperature': decimal below minimum value. Expected a value >= 0, but got -1 instead.",
        param: "temperature",
        code: "decimal_below_min_value",
      },
    ],
    [
      "an effort the model does not know",
      { model: "gpt-5", input: "Go.", reasoning: { effort: "xhigh" } },
      {
        message:
          "Unsupported value: 'xhigh' is not supported with the 'gpt-5' model. Supported values are: 'minimal', 'low', 'medium', and 'high'.",
        param: "reasoning.effort",
        code: "unsupported_value",
      },
    ],
    [
      "an earlier response that was not stored",
      { input: "Go.", previous_response_id: "resp_1" },
      {
        message: "Previous response with id 'resp_1' not found.",
        param: "previous_response_id",
        code: "previous_response_not_found",
      },
    ],
    [
      "a model that is misspelt",
      { model: "gpt-5.2-proo", input: "Go." },
      { message: "The requested model 'gpt-5.2-proo' does not exist.", param: "model", code: "model_not_found" },
    ],
  ];

  it.each(refusals)("a request with %s", async (_, body, error) => {
    const { ask } = createClient("openai");

    const reply = await ask({ model: "gpt-5.6", tools: tools("snap"), ...body });

    expect({ status: reply.status, body: reply.body }).toEqual({
      status: 400,
      body: { error: { type: "invalid_request_error", ...error } },
    });
  });

  it("a request without a key, with a wrong key, or with invalid JSON", async () => {
    const { ask } = createClient("openai", { keys: ["right"] });
    const errorOf = async (more: Parameters<ResponsesTestClient["ask"]>[1]): Promise<unknown> => {
      const { status, body } = await ask({}, more);
      return [status, asObject(body["error"])["code"], asText(asObject(body["error"])["message"]).slice(0, 60)];
    };

    expect(await errorOf({ headers: {} })).toEqual([401, null, "Missing bearer or basic authentication in header"]);
    expect(await errorOf({ headers: { authorization: "Bearer sk-proj-123456789" } })).toEqual([
      401,
      "invalid_api_key",
      "Incorrect API key provided: sk-p*********6789. You can find ",
    ]);
    expect(await errorOf({ headers: { authorization: "Bearer right" }, body: "{" })).toEqual([
      400,
      null,
      "We could not parse the JSON body of your request. (HINT: Thi",
    ]);
    expect(await errorOf({ url: "https://localhost/v1/answers", headers: { authorization: "Bearer right" } })).toEqual([
      404,
      null,
      "Invalid URL (POST /v1/answers)",
    ]);
  });

  it("a request longer than the context window", async () => {
    const { ask } = createClient("openai");

    const { status, body } = await ask({ model: "gpt-4o", input: "word ".repeat(110_000) });

    expect({ status, body }).toEqual({
      status: 400,
      body: {
        error: {
          message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
          type: "invalid_request_error",
          param: "input",
          code: "context_length_exceeded",
        },
      },
    });
  });
});
