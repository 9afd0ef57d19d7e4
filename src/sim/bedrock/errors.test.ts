import { describe, expect, it } from "vitest";
import {
  assistant,
  budget,
  cachePoint,
  llama,
  nova,
  createClient,
  pdf,
  result,
  sonnet,
  tools,
  user,
  verdict,
} from "./client.cases.ts";
import type { Json } from "../family.ts";

describe("Converse refuses", () => {
  const call = { toolUse: { toolUseId: "t1", name: "snap", input: {} } };
  const called = [user("Go."), assistant(call)];
  const invalid = (message: string): unknown => [400, "ValidationException", message];
  const refusals: readonly (readonly [string, string, Json, unknown])[] = [
    [
      "a call without its result",
      sonnet,
      { messages: [...called, user("Well?")] },
      invalid("Expected toolResult blocks at messages.2.content for the following Ids: t1"),
    ],
    [
      "a result without its call",
      sonnet,
      { messages: [user(result(call, { text: "x" }))] },
      invalid(
        "The number of toolResult blocks at messages.0.content exceeds the number of toolUse blocks of previous turn.",
      ),
    ],
    [
      "calls and no tools",
      sonnet,
      { messages: [...called, user(result(call, { text: "x" }))], toolConfig: undefined },
      invalid("The toolConfig field must be defined when using toolUse and toolResult content blocks."),
    ],
    [
      "words before a result of Claude",
      sonnet,
      { messages: [...called, user("See:", result(call, { text: "x" }))] },
      invalid(
        "messages.2: Did not find 1 `tool_result` block(s) at the beginning of this message. Messages following `tool_use` blocks must begin with a matching number of `tool_result` blocks.",
      ),
    ],
    [
      "two messages of the user in a row, on Claude",
      sonnet,
      { messages: [user("It is Monday."), user("Go.")] },
      invalid(
        "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.",
      ),
    ],
    [
      "text after a call of Claude",
      sonnet,
      { messages: [user("Go."), assistant(call, { text: "I look." }), user(result(call, { text: "x" }))] },
      invalid(
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
      ),
    ],
    [
      "words beside a result of Llama",
      llama,
      { messages: [...called, user(result(call, { text: "x" }), "And now?")] },
      invalid("messages.2.content: Conversation blocks and tool result blocks cannot be provided in the same turn."),
    ],
    [
      "a status for Writer",
      "us.writer.palmyra-x4-v1:0",
      { messages: [...called, user({ toolResult: { toolUseId: "t1", status: "success", content: [{ text: "x" }] } })] },
      invalid("This model doesn't support the status field. Remove status and try again."),
    ],
    [
      "blank text",
      nova,
      { messages: [user(" ")] },
      invalid(
        "The text field in the ContentBlock object at messages.0.content.0 is blank. Add text to the text field, and try again.",
      ),
    ],
    [
      "a document without text",
      nova,
      { messages: [user(pdf)] },
      invalid("A text block must be included when using documents. Add a text block and retry your request."),
    ],
    [
      "a video for Claude",
      sonnet,
      { messages: [user("Watch.", { video: { format: "mp4", source: { bytes: "AAAA" } } })] },
      invalid(
        "This model doesn't support the video content block that you provided. Update the content block and try again.",
      ),
    ],
    [
      "a result that is a list",
      nova,
      { messages: [...called, user(result(call, { json: [1] as unknown as Json }))] },
      invalid(
        "The format of the value at messages.2.content.0.toolResult.content.0.json is invalid. Provide a json object for the field and try again.",
      ),
    ],
    [
      "five cache points",
      sonnet,
      { messages: [user("Go.", ...Array.from({ length: 5 }, () => cachePoint))] },
      invalid("A maximum of 4 blocks with cache_control may be provided. Found 5."),
    ],
    [
      "a model that is misspelt",
      "us.amazon.nova-micro-v1:O",
      { messages: [user("Go.")] },
      invalid("The provided model identifier is invalid."),
    ],
    [
      "a cache point for a model that does not cache",
      llama,
      { messages: [user("Go.", cachePoint)] },
      [
        403,
        "AccessDeniedException",
        "You invoked an unsupported model or your request did not allow prompt caching. See the documentation for more information.",
      ],
    ],
    [
      "a loop whose thought is gone, where Claude thinks by a budget",
      sonnet,
      { messages: [...called, user(result(call, { text: "x" }))], ...budget },
      invalid(
        "The model returned the following errors: messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). To avoid this requirement, disable `thinking`.",
      ),
    ],
    [
      "more than the window holds",
      sonnet,
      { messages: [user("word ".repeat(170_000))] },
      invalid("The model returned the following errors: prompt is too long: 212535 tokens > 200000 maximum"),
    ],
  ];

  it.each(refusals)("a request with %s", async (_, model, body, refused) => {
    expect(await verdict(createClient(), model, { ...tools("snap"), ...body })).toEqual(refused);
  });

  it("a request without a key, with a wrong key, or with invalid JSON", async () => {
    const { send } = createClient({ keys: ["right"] });
    const url = `https://localhost/model/${encodeURIComponent(sonnet)}/converse`;
    const refused = async (authorization: string | undefined, more: Json = {}): Promise<unknown> => {
      const { status, headers, body } = await send({
        url,
        method: "POST",
        headers: authorization === undefined ? {} : { authorization },
        body: "{",
        ...more,
      });
      return [status, headers["x-amzn-errortype"]?.split(":")[0], body];
    };

    expect(await refused(undefined)).toEqual([
      403,
      "MissingAuthenticationTokenException",
      { message: "Missing Authentication Token" },
    ]);
    expect(await refused("Bearer wrong")).toEqual([
      403,
      "AccessDeniedException",
      { message: "Authentication failed: Please make sure your API Key is valid." },
    ]);
    expect(await refused("Bearer right")).toEqual([400, "SerializationException", { message: expect.any(String) }]);
    expect(await refused("Bearer right", { url: "https://localhost/model/x/invoke" })).toEqual([
      404,
      "UnknownOperationException",
      { Output: { __type: "com.amazon.coral.service#UnknownOperationException" }, Version: "1.0" },
    ]);
  });
});
