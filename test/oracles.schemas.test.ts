import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { responseOracles } from "../oracles/responses.ts";
import { checkBody, oracleNames, type OracleName } from "../oracles/check.ts";
import { oracles } from "../oracles/providers.ts";
import { sampleCases } from "./support/tier.ts";

const png = "iVBORw0KGgo=";
const pngUrl = `data:image/png;base64,${png}`;
const parameters = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };

const chat = (...messages: readonly object[]) => ({ model: "m", stream: true, messages });
const chatCall = { id: "call_1", type: "function", function: { name: "snap", arguments: "{}" } };
const asked = { role: "user", content: "look" };
const called = { role: "assistant", content: null, tool_calls: [chatCall] };
const answered = { role: "tool", tool_call_id: "call_1", content: "done" };
const chatImage = { type: "image_url", image_url: { url: pngUrl } };
const chatTools = [{ type: "function", function: { name: "snap", description: "d", parameters } }];

const responses = (...input: readonly object[]) => ({ model: "m", store: false, input });
const responsesCall = { type: "function_call", call_id: "call_1", name: "snap", arguments: "{}" };

const anthropic = (...messages: readonly object[]) => ({ model: "claude", max_tokens: 1024, messages });
const toolUse = { type: "tool_use", id: "toolu_1", name: "snap", input: { n: 1 } };
const anthropicImage = { type: "image", source: { type: "base64", media_type: "image/png", data: png } };
const toolResult = (...content: readonly object[]) => ({ type: "tool_result", tool_use_id: "toolu_1", content });

const gemini = (...contents: readonly object[]) => ({ contents });
const userParts = (...parts: readonly object[]) => ({ role: "user", parts });
const functionResponse = (...parts: readonly object[]) => ({
  functionResponse: { id: "c1", name: "snap", response: { output: "ok" }, parts },
});
const inlineData = { mimeType: "image/png", data: png };

const converse = (...messages: readonly object[]) => ({ messages, inferenceConfig: { maxTokens: 64 } });
const bedrockUser = (...content: readonly object[]) => ({ role: "user", content });
const bedrockImage = { image: { format: "png", source: { bytes: png } } };

const anthropicLoop = {
  ...anthropic(
    { role: "user", content: "look" },
    { role: "assistant", content: [{ type: "thinking", thinking: "hm", signature: "s" }, toolUse] },
    { role: "user", content: [toolResult({ type: "text", text: "page 1" }, anthropicImage)] },
  ),
  system: [{ type: "text", text: "Be terse.", cache_control: { type: "ephemeral" } }],
  tools: [{ name: "snap", description: "d", input_schema: parameters }],
  stream: true,
};

const geminiLoop = {
  ...gemini(
    userParts({ text: "look" }, { inlineData }),
    {
      role: "model",
      parts: [
        {
          functionCall: { id: "c1", name: "snap", args: { n: 1 } },
          thoughtSignature: "skip_thought_signature_validator",
        },
      ],
    },
    userParts(functionResponse({ inlineData })),
  ),
  systemInstruction: { parts: [{ text: "Be terse." }] },
  tools: [{ functionDeclarations: [{ name: "snap", description: "d", parametersJsonSchema: parameters }] }],
  toolConfig: { functionCallingConfig: { mode: "AUTO" } },
  generationConfig: { maxOutputTokens: 64, thinkingConfig: { thinkingLevel: "low", includeThoughts: true } },
};

/** One tool loop per request type, with what the vendor offers for it. */
const toolLoops: { readonly [name in OracleName]: object } = {
  "anthropic-messages-2026-10-21": anthropicLoop,
  "anthropic-messages-2023-06-01": anthropicLoop,
  gemini: geminiLoop,
  vertex: geminiLoop,
  "code-assist-request": { ...geminiLoop, session_id: "s" },
  "bedrock-converse": {
    ...converse(
      bedrockUser({ text: "look" }, { document: { format: "pdf", name: "report 1", source: { bytes: png } } }),
      {
        role: "assistant",
        content: [
          { reasoningContent: { reasoningText: { text: "hm", signature: "s" } } },
          { toolUse: { toolUseId: "t1", name: "snap", input: { n: 1 } } },
        ],
      },
      bedrockUser({
        toolResult: { toolUseId: "t1", status: "success", content: [{ json: { ok: true } }, bedrockImage] },
      }),
    ),
    system: [{ text: "Be terse." }, { cachePoint: { type: "default" } }],
    toolConfig: {
      tools: [{ toolSpec: { name: "snap", inputSchema: { json: parameters } } }],
      toolChoice: { auto: {} },
    },
  },
  "openai-responses": {
    ...responses(
      { role: "user", content: [{ type: "input_text", text: "look" }] },
      { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAAA" },
      responsesCall,
      {
        type: "function_call_output",
        call_id: "call_1",
        output: [{ type: "input_image", image_url: pngUrl, detail: "auto" }],
      },
    ),
    include: ["reasoning.encrypted_content"],
    tools: [{ type: "function", name: "snap", description: "d", parameters, strict: false }],
  },
  "openai-chat": { ...chat(asked, called, answered), tools: chatTools, stream_options: { include_usage: true } },
  "groq-chat": { ...chat(asked, { ...called, reasoning: "hm" }, answered), tools: chatTools },
  "mistral-chat": {
    ...chat(
      { role: "user", content: [{ type: "document_url", document_url: "data:application/pdf;base64,JVBE" }] },
      {
        role: "assistant",
        content: [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }],
        tool_calls: [{ ...chatCall, id: "abcdefghi" }],
      },
      { ...answered, tool_call_id: "abcdefghi", name: "snap" },
    ),
    tools: chatTools,
  },
  "openrouter-chat": {
    ...chat(
      asked,
      { ...called, reasoning_details: [{ type: "reasoning.text", text: "hm", signature: "s" }] },
      { ...answered, content: [chatImage, { type: "video_url", video_url: { url: "data:video/mp4;base64,AAAA" } }] },
    ),
    tools: chatTools,
    reasoning: { enabled: true },
  },
  "kimi-chat": {
    ...chat(
      { role: "user", content: [{ type: "video_url", video_url: { url: "ms://1" } }] },
      { role: "assistant", tool_calls: [chatCall], reasoning_content: "" },
      { ...answered, content: [{ type: "text", text: "page 1" }, chatImage] },
    ),
    tools: chatTools,
    thinking: { type: "enabled" },
  },
  "deepseek-chat": { ...chat(asked, { ...called, reasoning_content: "hm" }, answered), tools: chatTools },
  "zai-chat": { ...chat(asked, { ...called, reasoning_content: "hm" }, answered), tool_stream: true },
  "qwen-chat": {
    ...chat(asked, called, {
      ...answered,
      content: [{ type: "text", text: "done", cache_control: { type: "ephemeral" } }],
    }),
    enable_thinking: true,
  },
  "minimax-chat": chat(asked, { ...called, reasoning_details: [{ type: "reasoning.text", text: "hm" }] }, answered),
  "local-chat": chat(asked, { ...called, reasoning: "hm" }, { ...answered, content: [chatImage] }),
};

describe("checkBody", () => {
  it.each(sampleCases(oracleNames, 4))("%s accepts a tool loop", (name) => {
    expect(checkBody(name, toolLoops[name])).toEqual([]);
  });

  it.each(sampleCases(oracleNames, 4))("%s refuses a field the vendor does not know", (name) => {
    expect(checkBody(name, { ...toolLoops[name], parley: true })).toEqual(['/: unknown field "parley"']);
  });

  it("treats an undefined property as absent", () => {
    expect(checkBody("openai-chat", { ...chat(asked), temperature: undefined, parley: undefined })).toEqual([]);
  });
});

/** Bodies that a vendor's types refuse, with the message. */
const refusals: readonly (readonly [title: string, name: OracleName, body: object, problem: string])[] = [
  [
    "an image in a tool message",
    "openai-chat",
    chat(asked, called, { ...answered, content: [chatImage] }),
    '/messages/2/content/0/type: "image_url" is not "text"',
  ],
  [
    "a tool message that answers nothing",
    "openai-chat",
    chat(asked, called, { role: "tool", content: "done" }),
    '/messages/2: missing "tool_call_id"',
  ],
  [
    "another provider's reasoning field",
    "openai-chat",
    chat(asked, { ...called, reasoning_content: "hm" }, answered),
    '/messages/1: unknown field "reasoning_content"',
  ],
  [
    "another provider's reasoning field",
    "groq-chat",
    chat(asked, { ...called, reasoning_content: "hm" }, answered),
    '/messages/1: unknown field "reasoning_content"',
  ],
  [
    "another provider's reasoning field",
    "mistral-chat",
    chat(asked, { ...called, reasoning_content: "hm" }, answered),
    '/messages/1: unknown field "reasoning_content"',
  ],
  ["a user's name", "mistral-chat", chat({ ...asked, name: "ann" }), '/messages/0: unknown field "name"'],
  [
    "a video part",
    "deepseek-chat",
    chat({ role: "user", content: [{ type: "video_url", video_url: { url: "u" } }] }),
    '/messages/0/content/0/type: "video_url" is not "text", "image_url", "input_audio", "file"',
  ],
  [
    "a document in a tool message",
    "kimi-chat",
    chat(asked, called, { ...answered, content: [{ type: "file", file: { file_id: "f" } }] }),
    '/messages/2/content/0/type: "file" is not "text", "image_url", "video_url"',
  ],
  [
    "a role of its own making",
    "openai-chat",
    chat({ role: "model", content: "hi" }),
    '/messages/0/role: "model" is not "developer", "system", "user", "assistant", "tool", "function"',
  ],
  [
    "arguments as an object",
    "openai-chat",
    chat(asked, { ...called, tool_calls: [{ ...chatCall, function: { name: "snap", arguments: {} } }] }, answered),
    "/messages/1/tool_calls/0/function/arguments: expected string, got object",
  ],
  [
    "an output without its call",
    "openai-responses",
    responses(responsesCall, { type: "function_call_output", output: "done" }),
    '/input/1: missing "call_id"',
  ],
  [
    "audio in a tool output",
    "openai-responses",
    responses(responsesCall, {
      type: "function_call_output",
      call_id: "call_1",
      output: [{ type: "input_audio", audio_url: "data:audio/wav;base64,UklG" }],
    }),
    '/input/1/output/0/type: "input_audio" is not "input_text", "input_image", "input_file"',
  ],
  [
    "a chat image part",
    "openai-responses",
    responses({ role: "user", content: [chatImage] }),
    '/input/0/content/0/type: "image_url" is not "input_text", "input_image", "input_file"',
  ],
  [
    "audio in a tool result",
    "anthropic-messages-2023-06-01",
    anthropic({ role: "user", content: [toolResult({ type: "audio", source: anthropicImage.source })] }),
    '/messages/0/content/0/content/0/type: "audio" is not "text", "image", "search_result", "document", "tool_reference", "browser_state"',
  ],
  [
    "a result without its call",
    "anthropic-messages-2026-10-21",
    anthropic({ role: "user", content: [{ type: "tool_result", content: "done" }] }),
    '/messages/0/content/0: missing "tool_use_id"',
  ],
  [
    "sampling settings, gone with its API version",
    "anthropic-messages-2026-10-21",
    { ...anthropic({ role: "user", content: "hi" }), temperature: 0.5 },
    '/: unknown field "temperature"',
  ],
  [
    "a display name on inline data",
    "gemini",
    gemini(userParts({ inlineData: { ...inlineData, displayName: "a.png" } })),
    '/contents/0/parts/0/inlineData: unknown field "displayName"',
  ],
  [
    "a file by reference in a function response",
    "gemini",
    gemini(userParts(functionResponse({ fileData: { mimeType: "image/png", fileUri: "gs://b/a.png" } }))),
    '/contents/0/parts/0/functionResponse/parts/0: unknown field "fileData"',
  ],
  ["labels", "gemini", { ...gemini(userParts({ text: "hi" })), labels: { team: "a" } }, '/: unknown field "labels"'],
  [
    "a part that is two things",
    "gemini",
    gemini(userParts({ text: "look", inlineData })),
    '/contents/0/parts/0: only one of "text", "inlineData" may be set',
  ],
  [
    "a server-side tool trace",
    "vertex",
    gemini({ role: "model", parts: [{ toolCall: { id: "1", toolType: "URL_CONTEXT", args: {} } }] }),
    '/contents/0/parts/0: unknown field "toolCall"',
  ],
  [
    "a data URL where base64 belongs",
    "gemini",
    gemini(userParts({ inlineData: { mimeType: "image/png", data: pngUrl } })),
    `/contents/0/parts/0/inlineData/data: "${pngUrl}" does not match ^[A-Za-z0-9+/_-]*={0,2}$`,
  ],
  [
    "a response that is not an object",
    "gemini",
    gemini(userParts({ functionResponse: { name: "snap", response: "ok" } })),
    "/contents/0/parts/0/functionResponse/response: expected object, got string",
  ],
  [
    "a result without its call",
    "bedrock-converse",
    converse(bedrockUser({ toolResult: { content: [{ text: "done" }] } })),
    '/messages/0/content/0/toolResult: missing "toolUseId"',
  ],
  [
    "a block it has no name for",
    "bedrock-converse",
    converse(bedrockUser({ thinking: { text: "hm" } })),
    '/messages/0/content/0: unknown field "thinking"',
  ],
  [
    "audio in a tool result",
    "bedrock-converse",
    converse(
      bedrockUser({ toolResult: { toolUseId: "t1", content: [{ audio: { format: "wav", source: { bytes: png } } }] } }),
    ),
    '/messages/0/content/0/toolResult/content/0: unknown field "audio"',
  ],
  [
    "a MIME type as an image format",
    "bedrock-converse",
    converse(bedrockUser({ image: { format: "image/png", source: { bytes: png } } })),
    '/messages/0/content/0/image/format: "image/png" is not "gif", "jpeg", "png", "webp"',
  ],
  [
    "a block that is two things",
    "bedrock-converse",
    converse(bedrockUser({ text: "look", ...bedrockImage })),
    '/messages/0/content/0: only one of "text", "image" may be set',
  ],
  [
    "a block that is nothing",
    "bedrock-converse",
    { ...converse(), system: [{}] },
    '/system/0: one of "cachePoint", "guardContent", "text" must be set',
  ],
  [
    "the model, which travels in the path",
    "bedrock-converse",
    { ...converse(bedrockUser({ text: "hi" })), modelId: "m" },
    '/: unknown field "modelId"',
  ],
];

/** The counterparts of refusals above, where they are allowed. */
const allowances: readonly (readonly [title: string, name: OracleName, body: object])[] = [
  [
    "sampling settings in the older API version",
    "anthropic-messages-2023-06-01",
    { ...anthropic({ role: "user", content: "hi" }), temperature: 0.5 },
  ],
  [
    "a file by reference in a function response",
    "vertex",
    gemini(userParts(functionResponse({ fileData: { mimeType: "image/png", fileUri: "gs://b/a.png" } }))),
  ],
  [
    "a display name on inline data",
    "vertex",
    gemini(userParts({ inlineData: { ...inlineData, displayName: "a.png" } })),
  ],
];

describe("the vendors' types", () => {
  it.each(refusals)("refuse %s (%s)", (_title, name, body, problem) => {
    expect(checkBody(name, body)).toEqual([problem]);
  });

  it.each(allowances)("allow %s (%s)", (_title, name, body) => {
    expect(checkBody(name, body)).toEqual([]);
  });
});

describe("the committed schemas", () => {
  const folder = new URL("../oracles/schemas/", import.meta.url);
  const all = [...Object.values(oracles), ...Object.values(responseOracles)];

  it("are each used by an oracle", () => {
    const used = new Set<string>(all.map(({ file }) => file));
    expect(readdirSync(folder).toSorted()).toEqual([...used].toSorted());
  });

  it("have the pinned version", () => {
    const { devDependencies } = JSON.parse(
      readFileSync(new URL("../oracles/package.json", import.meta.url), "utf8"),
    ) as {
      readonly devDependencies: { readonly [name: string]: string };
    };
    const pins = new Set(Object.values(devDependencies).map((pin) => pin.replace(/^npm:.*@/, "")));
    const versions = readdirSync(folder).map((file) => /-([\d.]+)\.json$/.exec(file)?.[1]);
    expect(versions.filter((version) => version === undefined || !pins.has(version))).toEqual([]);
  });

  it("state a reason for each extension", () => {
    const reasons = all.flatMap(({ extensions }) => extensions.map(({ reason }) => reason));
    expect(reasons.filter((reason) => reason.length < 10)).toEqual([]);
  });
});
