import type { JsonObject, JsonValue } from "../../src/conversation/json.ts";

/**
 * What each API family's requests may say, by path, with a sample of it. The
 * samples are written from the vendors' documentation, and every value occurs
 * once, so that one that is missing is missed.
 */
export type Family = {
  readonly name: string;
  /** A model of the family that takes nearly everything. */
  readonly model: string;
  /** The fields every body needs. */
  readonly base: JsonObject;
  readonly fields: Readonly<Record<string, JsonValue>>;
};

const schema = (word: string): JsonObject => ({
  type: "object",
  properties: { [`prop_${word}`]: { type: "string", description: `schema ${word}` } },
  required: [`prop_${word}`],
  additionalProperties: false,
});

const anthropicTool = (name: string): JsonObject => ({ name, description: `does ${name}`, input_schema: schema(name) });

const anthropic: Family = {
  name: "anthropic",
  model: "anthropic/claude-sonnet-4-6",
  base: {
    model: "claude-sonnet-4-6",
    max_tokens: 4001,
    messages: [
      { role: "user", content: "hello anthropic" },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "signed thought", signature: "c2lnbmF0dXJlLTE=" },
          { type: "text", text: "calling" },
          { type: "tool_use", id: "toolu_01A", name: "look", input: { at: "here" } },
        ],
      },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "toolu_01A", content: [{ type: "text", text: "seen" }] }],
      },
    ],
    tools: [anthropicTool("look")],
  },
  fields: {
    system: [{ type: "text", text: "be brief", cache_control: { type: "ephemeral", ttl: "1h" } }],
    temperature: 0.71,
    top_p: 0.91,
    top_k: 41,
    stop_sequences: ["STOP-A", "STOP-B"],
    stream: true,
    metadata: { user_id: "user-a" },
    service_tier: "standard_only",
    container: "container-a",
    context_management: { edits: [{ type: "clear_tool_uses_20250919", keep: { type: "tool_uses", value: 3 } }] },
    mcp_servers: [{ type: "url", url: "https://mcp.example/sse", name: "example-server" }],
    inference_geo: "eu-geo",
    speed: "fast-speed",
    cache_control: { type: "ephemeral", ttl: "5m" },
    output_format: { type: "json_schema", schema: schema("output_format") },
    "output_config/format": { type: "json_schema", schema: schema("output_config") },
    "output_config/effort": "low",
    "output_config/task_budget": { type: "tokens", total: 64_001 },
    thinking: { type: "adaptive", display: "summarized" },
    tool_choice: { type: "auto", disable_parallel_tool_use: true },
    "tools/0/strict": true,
    "tools/0/defer_loading": true,
    "tools/0/eager_input_streaming": true,
    "tools/0/allowed_callers": ["code_execution_20250825"],
    "tools/0/input_examples": [{ prop_look: "an example" }],
    "tools/0/cache_control": { type: "ephemeral" },
    "tools/1": { type: "web_search_20250305", name: "web_search", max_uses: 7 },
    "messages/0/content": [
      { type: "text", text: "look at", cache_control: { type: "ephemeral" } },
      {
        type: "document",
        title: "Title A",
        context: "Context A",
        citations: { enabled: true },
        source: { type: "text", media_type: "text/plain", data: "the document" },
      },
      {
        type: "document",
        title: "Paper A",
        source: { type: "base64", media_type: "application/pdf", data: "JVBERi0x" },
      },
      {
        type: "search_result",
        source: "https://found",
        title: "Found",
        content: [{ type: "text", text: "found text" }],
      },
      { type: "image", source: { type: "url", url: "https://example.com/cat.png" } },
    ],
    "messages/1/content/2/caller": { type: "direct-caller" },
    "messages/2/content/0/is_error": true,
    "messages/3": {
      role: "user",
      content: [
        { type: "container_upload", file_id: "file-upload" },
        { type: "text", text: "go on" },
      ],
    },
  },
};

const openaiTool = (name: string): JsonObject => ({
  type: "function",
  function: { name, description: `does ${name}`, parameters: schema(name) },
});

const chatBase = (model: string): JsonObject => ({
  model,
  messages: [
    { role: "system", content: "be brief" },
    { role: "user", content: "hello chat" },
    {
      role: "assistant",
      content: "calling",
      tool_calls: [{ id: "call_01A", type: "function", function: { name: "look", arguments: '{"at":"here"}' } }],
    },
    { role: "tool", tool_call_id: "call_01A", content: "seen" },
  ],
  tools: [openaiTool("look")],
});

const chatFields: Readonly<Record<string, JsonValue>> = {
  max_completion_tokens: 4002,
  temperature: 0.72,
  top_p: 0.92,
  frequency_penalty: 0.31,
  presence_penalty: 0.32,
  logit_bias: { "50256": -99 },
  logprobs: true,
  top_logprobs: 4,
  stop: ["STOP-C"],
  n: 1,
  seed: 4203,
  response_format: { type: "json_schema", json_schema: { name: "answer-c", strict: true, schema: schema("response") } },
  parallel_tool_calls: false,
  tool_choice: { type: "function", function: { name: "look" } },
  metadata: { trace: "trace-c" },
  store: true,
  stream: true,
  stream_options: { include_usage: true },
  service_tier: "flex-tier",
  user: "user-c",
  safety_identifier: "safety-c",
  verbosity: "terse",
  modalities: ["text"],
  prediction: { type: "content", content: "predicted" },
  web_search_options: { search_context_size: "context-size" },
  prompt_cache_key: "cache-key-c",
  prompt_cache_retention: "24h-retention",
  "tools/0/function/strict": true,
  "tools/1": { type: "web_search", filters: { allowed_domains: ["example.org"] } },
  "messages/1/name": "Ann",
  "messages/1/content": [
    { type: "text", text: "look at" },
    { type: "image_url", image_url: { url: "https://example.com/cat.png", detail: "high-detail" } },
    { type: "file", file: { filename: "paper-c.pdf", file_data: "data:application/pdf;base64,JVBERi0x" } },
  ],
  "messages/2/refusal": "no, sorry",
  "messages/2/annotations": [{ type: "url_citation", url_citation: { url: "https://cited", title: "Cited" } }],
  "messages/2/tool_calls/0/index": 17,
};

const openaiChat: Family = {
  name: "openai-chat",
  model: "openai-chat/gpt-4o",
  base: chatBase("gpt-4o"),
  fields: chatFields,
};

const openrouter: Family = {
  name: "openai-chat (OpenRouter)",
  model: "openrouter/anthropic/claude-sonnet-4.6",
  base: chatBase("anthropic/claude-sonnet-4.6"),
  fields: {
    max_tokens: 4003,
    reasoning: { max_tokens: 2003, exclude: true },
    provider: { order: ["provider-a"], allow_fallbacks: false },
    models: ["fallback/model"],
    transforms: ["middle-out"],
    plugins: [{ id: "plugin-web" }],
    usage: { include: true },
    top_k: 43,
    min_p: 0.03,
    top_a: 0.04,
    repetition_penalty: 1.13,
    "messages/1/content": [{ type: "text", text: "marked", cache_control: { type: "ephemeral", ttl: "1h" } }],
    "messages/2/reasoning": "detailed thought",
    "messages/2/reasoning_details": [
      {
        type: "reasoning.text",
        text: "detailed thought",
        signature: "c2lnLWQ=",
        format: "anthropic-claude-v1",
        index: 0,
      },
    ],
  },
};

const responses: Family = {
  name: "openai-responses",
  model: "openai/gpt-5.2",
  base: {
    model: "gpt-5.2",
    instructions: "be brief",
    input: [
      { role: "user", content: "hello responses" },
      { type: "reasoning", summary: [{ type: "summary_text", text: "summed up" }], encrypted_content: "ZW5jcnlwdGVk" },
      { type: "function_call", call_id: "call_01B", name: "look", arguments: '{"at":"here"}' },
      { type: "function_call_output", call_id: "call_01B", output: "seen" },
    ],
    tools: [{ type: "function", name: "look", description: "does look", parameters: schema("look") }],
  },
  fields: {
    max_output_tokens: 4004,
    temperature: 0.74,
    top_p: 0.94,
    top_logprobs: 5,
    text: {
      verbosity: "terse",
      format: { type: "json_schema", name: "answer-r", strict: true, schema: schema("text") },
    },
    parallel_tool_calls: false,
    max_tool_calls: 19,
    tool_choice: { type: "function", name: "look" },
    metadata: { trace: "trace-r" },
    service_tier: "flex-tier",
    user: "user-r",
    safety_identifier: "safety-r",
    truncation: "auto-truncation",
    stream: true,
    stream_options: { include_obfuscation: false },
    store: true,
    background: true,
    include: ["reasoning.encrypted_content", "web_search_call.action.sources"],
    prompt: { id: "prompt-r", version: "2" },
    prompt_cache_key: "cache-key-r",
    prompt_cache_retention: "24h-retention",
    previous_response_id: "resp_r",
    conversation: "conv_r",
    reasoning: { effort: "xhigh", summary: "detailed-summary" },
    "tools/0/strict": true,
    "tools/1": { type: "file_search", vector_store_ids: ["vs_r"] },
    "tools/2": { type: "custom", name: "patch", description: "free text", format: { type: "grammar", syntax: "lark" } },
    "input/0/content": [
      { type: "input_text", text: "look at" },
      { type: "input_image", image_url: "https://example.com/cat.png", detail: "low-detail" },
      { type: "input_file", filename: "paper-r.pdf", file_data: "data:application/pdf;base64,JVBERi0x" },
    ],
    "input/1/id": "rs_0123456789",
    "input/2/id": "fc_0123456789",
    "input/2/status": "incomplete",
    "input/4": {
      type: "message",
      role: "assistant",
      id: "msg_0123456789",
      phase: "commentary",
      content: [
        {
          type: "output_text",
          text: "so it is",
          annotations: [{ type: "url_citation", url: "https://cited", title: "Cited" }],
        },
      ],
    },
    "input/5": {
      type: "web_search_call",
      id: "ws_r",
      status: "completed",
      action: { type: "search", query: "query-r" },
    },
  },
};

const gemini: Family = {
  name: "gemini",
  model: "google/gemini-2.5-flash",
  base: {
    contents: [
      { role: "user", parts: [{ text: "hello gemini" }] },
      {
        role: "model",
        parts: [{ functionCall: { id: "call-g", name: "look", args: { at: "here" } }, thoughtSignature: "c2lnLWc=" }],
      },
      { role: "user", parts: [{ functionResponse: { id: "call-g", name: "look", response: { output: "seen" } } }] },
    ],
    tools: [
      { functionDeclarations: [{ name: "look", description: "does look", parametersJsonSchema: schema("look") }] },
    ],
  },
  fields: {
    systemInstruction: { parts: [{ text: "be brief" }] },
    safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
    labels: { team: "team-g" },
    cachedContent: "cachedContents/g",
    "generationConfig/maxOutputTokens": 4005,
    "generationConfig/temperature": 0.75,
    "generationConfig/topP": 0.95,
    "generationConfig/topK": 45,
    "generationConfig/stopSequences": ["STOP-G"],
    "generationConfig/candidateCount": 1,
    "generationConfig/seed": 4505,
    "generationConfig/presencePenalty": 0.35,
    "generationConfig/frequencyPenalty": 0.36,
    "generationConfig/responseMimeType": "application/json",
    "generationConfig/responseSchema": { type: "STRING", enum: ["enum-g"] },
    "generationConfig/responseJsonSchema": schema("generation"),
    "generationConfig/responseModalities": ["TEXT"],
    "generationConfig/responseLogprobs": true,
    "generationConfig/logprobs": 6,
    "generationConfig/speechConfig": { languageCode: "de-DE" },
    "generationConfig/imageConfig": { aspectRatio: "16:9" },
    "generationConfig/mediaResolution": "MEDIA_RESOLUTION_LOW",
    "generationConfig/thinkingConfig": { thinkingBudget: 2005, includeThoughts: true },
    "toolConfig/functionCallingConfig": { mode: "ANY", allowedFunctionNames: ["look", "other"] },
    "toolConfig/retrievalConfig": { languageCode: "fr-FR" },
    "toolConfig/includeServerSideToolInvocations": true,
    "tools/0/functionDeclarations/0/behavior": "NON_BLOCKING",
    "tools/0/functionDeclarations/0/response": { type: "OBJECT", description: "the response" },
    "tools/1": { googleSearch: { timeRangeFilter: { startTime: "2026-01-01T00:00:00Z" } } },
    "contents/0/parts": [
      { text: "look at" },
      { inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" }, mediaResolution: { level: "LEVEL-HIGH" } },
      { fileData: { mimeType: "video/mp4", fileUri: "https://youtu.be/abc" }, videoMetadata: { fps: 3 } },
    ],
    "contents/1/parts/1": { text: "a thought", thought: true },
    "contents/3": {
      role: "model",
      parts: [
        { executableCode: { language: "PYTHON", code: "print(7)", id: "code-g" } },
        { codeExecutionResult: { outcome: "OUTCOME_OK", output: "7\n", id: "code-g" } },
      ],
    },
    "contents/4": { role: "user", parts: [{ text: "go on" }] },
  },
};

const bedrock: Family = {
  name: "bedrock",
  model: "bedrock/us.anthropic.claude-sonnet-4-6-v1:0",
  base: {
    messages: [
      { role: "user", content: [{ text: "hello bedrock" }] },
      {
        role: "assistant",
        content: [
          { reasoningContent: { reasoningText: { text: "signed thought", signature: "c2lnLWI=" } } },
          { toolUse: { toolUseId: "tooluse_01A", name: "look", input: { at: "here" } } },
        ],
      },
      { role: "user", content: [{ toolResult: { toolUseId: "tooluse_01A", content: [{ text: "seen" }] } }] },
    ],
    toolConfig: {
      tools: [{ toolSpec: { name: "look", description: "does look", inputSchema: { json: schema("look") } } }],
    },
  },
  fields: {
    system: [{ text: "be brief" }, { cachePoint: { type: "default", ttl: "1h" } }],
    "inferenceConfig/maxTokens": 4006,
    "inferenceConfig/temperature": 0.76,
    "inferenceConfig/topP": 0.96,
    "inferenceConfig/stopSequences": ["STOP-D"],
    guardrailConfig: { guardrailIdentifier: "guardrail-b", guardrailVersion: "3", trace: "enabled" },
    performanceConfig: { latency: "optimized" },
    requestMetadata: { team: "team-b" },
    promptVariables: { topic: { text: "topic-b" } },
    additionalModelResponseFieldPaths: ["/stop_sequence"],
    outputConfig: {
      textFormat: { type: "json_schema", structure: { jsonSchema: { name: "answer-b", schema: "{}" } } },
    },
    serviceTier: { type: "priority" },
    "additionalModelRequestFields/thinking": { type: "adaptive", display: "summarized" },
    "additionalModelRequestFields/output_config": {
      effort: "low",
      format: { type: "json_schema", schema: schema("b") },
    },
    "additionalModelRequestFields/top_k": 46,
    "additionalModelRequestFields/anthropic_beta": ["beta-b"],
    "toolConfig/toolChoice": { tool: { name: "look" } },
    "toolConfig/tools/0/toolSpec/strict": true,
    "toolConfig/tools/1": { systemTool: { name: "nova_grounding" } },
    "toolConfig/tools/2": { cachePoint: { type: "default" } },
    "messages/0/content": [
      { text: "look at" },
      {
        document: {
          format: "pdf",
          name: "Paper B",
          context: "Context B",
          citations: { enabled: true },
          source: { bytes: "JVBERi0x" },
        },
      },
      { document: { format: "txt", name: "Words B", source: { text: "the document" } } },
      { image: { format: "png", source: { bytes: "iVBORw0KGgo=" } } },
      { searchResult: { source: "https://found", title: "Found", content: [{ text: "found text" }] } },
      { guardContent: { text: { text: "guarded", qualifiers: ["grounding_source"] } } },
      { cachePoint: { type: "default" } },
    ],
    "messages/2/content/0/toolResult/status": "error",
    "messages/3": {
      role: "assistant",
      content: [
        {
          citationsContent: {
            content: [{ text: "cited" }],
            citations: [{ title: "Cited B", sourceContent: [{ text: "source text" }] }],
          },
        },
      ],
    },
    "messages/4": { role: "user", content: [{ text: "go on" }] },
  },
};

/** Every family, and one server that extends a family much. */
export const families: readonly Family[] = [anthropic, openaiChat, openrouter, responses, gemini, bedrock];

/** A family's base with some of its fields, put in by path. */
export const bodyWith = ({ base, fields }: Family, paths: readonly string[]): JsonObject => {
  const body = structuredClone(base) as Record<string, unknown>;
  for (const path of paths) {
    const keys = path.split("/");
    let holder = body;
    for (const key of keys.slice(0, -1)) holder = (holder[key] ??= {}) as Record<string, unknown>;
    const last = keys.at(-1)!;
    if (Array.isArray(holder)) holder.push(fields[path]);
    else holder[last] = fields[path];
  }
  return body as JsonObject;
};
