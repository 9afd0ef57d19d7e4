import type { ForeignAgent } from "../../../src/foreign/agents.ts";
import type { Story, StoryCall, StoryLimits, StoryStep, StoryTurn } from "./story.ts";

/** Files of another agent, by path below the user's home folder. */
export type WrittenFiles = Readonly<Record<string, string>>;

/** Writes a story in the form of an agent. The first file is the session. */
export type StoryWriter = {
  readonly limits: StoryLimits;
  readonly write: (story: Story, folder: string) => WrittenFiles;
};

const id = "0a1b2c3d-0000-4000-8000-00000000beef";
const time = (step: number): string => new Date(Date.UTC(2026, 0, 2, 3, 4, step)).toISOString();
const lines = (records: readonly object[]): string => records.map((record) => `${JSON.stringify(record)}\n`).join("");
const dashed = (folder: string): string => folder.replaceAll(/[^a-zA-Z0-9]/g, "-");
const stepsOf = ({ turns }: Story): readonly (StoryTurn | StoryStep)[] =>
  turns.flatMap((turn) => [turn, ...turn.steps]);
const isTurn = (each: StoryTurn | StoryStep): each is StoryTurn => "prompt" in each;
const png = "image/png";

const anthropicImage = (data: string): object => ({ type: "image", source: { type: "base64", media_type: png, data } });

/** Claude Code: a line per block; results hang on the line of their own call, so that parallel calls fork the tree. */
const writeClaude = (story: Story, folder: string): WrittenFiles => {
  const records: object[] = [{ type: "mode", mode: "normal", sessionId: id }];
  let [count, parent] = [0, null as string | null];
  const line = (fields: object, on: string | null = parent): string => {
    const uuid = `line-${(count += 1)}`;
    records.push({
      uuid,
      parentUuid: on,
      sessionId: id,
      cwd: folder,
      timestamp: time(count),
      isSidechain: false,
      ...fields,
    });
    return uuid;
  };
  for (const each of stepsOf(story)) {
    if (isTurn(each)) {
      const content =
        each.image === undefined ? each.prompt : [{ type: "text", text: each.prompt }, anthropicImage(each.image)];
      parent = line({ type: "user", message: { role: "user", content } });
      parent = line({ type: "attachment", attachment: { type: "date", rendered: [{ content: "added" }] } });
      continue;
    }
    const message = `msg_${count}`;
    const block = (content: object): string =>
      line({
        type: "assistant",
        message: { id: message, model: "claude-sonnet-5", role: "assistant", content: [content] },
      });
    if (each.thinking !== undefined) parent = block({ type: "thinking", thinking: each.thinking, signature: "c2ln" });
    if (each.text !== undefined) parent = block({ type: "text", text: each.text });
    const owners = each.calls.map((call) => {
      parent = block({ type: "tool_use", id: call.id, name: call.tool, input: call.input });
      return parent;
    });
    each.calls.forEach(({ id: call, result }, index) => {
      if (result === undefined) return;
      const content = [
        { type: "text", text: result.text },
        ...(result.image === undefined ? [] : [anthropicImage(result.image)]),
      ];
      const toolResult = {
        type: "tool_result",
        tool_use_id: call,
        content,
        ...(result.isError ? { is_error: true } : {}),
      };
      parent = line({ type: "user", message: { role: "user", content: [toolResult] } }, owners[index]);
    });
  }
  return { [`.claude/projects/${dashed(folder)}/${id}.jsonl`]: lines(records) };
};

const codexImage = (data: string): object => ({ type: "input_image", image_url: `data:${png};base64,${data}` });

const writeCodex = (story: Story, folder: string): WrittenFiles => {
  const records: object[] = [
    {
      timestamp: time(0),
      type: "session_meta",
      payload: { id, cwd: folder, model_provider: "openai", timestamp: time(0) },
    },
    { timestamp: time(0), type: "turn_context", payload: { cwd: folder, model: "gpt-5.6" } },
  ];
  const item = (payload: object): void => void records.push({ timestamp: time(1), type: "response_item", payload });
  item({
    type: "message",
    role: "user",
    content: [{ type: "input_text", text: "<environment_context>added</environment_context>" }],
  });
  for (const each of stepsOf(story)) {
    if (isTurn(each)) {
      const image = each.image === undefined ? [] : [codexImage(each.image)];
      item({ type: "message", role: "user", content: [{ type: "input_text", text: each.prompt }, ...image] });
      records.push({ timestamp: time(1), type: "event_msg", payload: { type: "user_message", message: each.prompt } });
      continue;
    }
    if (each.thinking !== undefined)
      item({
        type: "reasoning",
        id: `rs_${each.thinking.length}`,
        summary: [{ type: "summary_text", text: each.thinking }],
        encrypted_content: "ZW5j",
      });
    if (each.text !== undefined)
      item({ type: "message", role: "assistant", content: [{ type: "output_text", text: each.text }] });
    for (const { id: call, tool, input } of each.calls)
      item({ type: "function_call", call_id: call, name: tool, arguments: JSON.stringify(input) });
    for (const { id: call, result } of each.calls)
      if (result !== undefined)
        item({
          type: "function_call_output",
          call_id: call,
          output:
            result.image === undefined
              ? result.text
              : [{ type: "input_text", text: result.text }, codexImage(result.image)],
        });
  }
  return { [`.codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-${id}.jsonl`]: lines(records) };
};

const inline = (data: string): object => ({ inlineData: { mimeType: png, data } });

const response = ({ id: call, tool, result }: StoryCall): object => ({
  functionResponse: {
    id: call,
    name: tool,
    response: result?.isError === true ? { error: result.text } : { output: result?.text },
  },
});

const writeGemini = (story: Story, folder: string): WrittenFiles => {
  const records: object[] = [
    { sessionId: id, projectHash: "f0", startTime: time(0), lastUpdated: time(0), kind: "main" },
    {
      $set: {
        messages: [{ id: "context", timestamp: time(0), type: "user", content: [{ text: "<session_context>added" }] }],
      },
    },
  ];
  let count = 0;
  for (const each of stepsOf(story)) {
    const message = { id: `message-${(count += 1)}`, timestamp: time(count) };
    if (isTurn(each)) {
      records.push({
        ...message,
        type: "user",
        content: [{ text: each.prompt }, ...(each.image === undefined ? [] : [inline(each.image)])],
      });
      continue;
    }
    const said = {
      ...message,
      type: "gemini",
      content: each.text ?? "",
      thoughts: each.thinking === undefined ? [] : [{ subject: each.thinking, description: "" }],
      model: "gemini-3-pro",
    };
    records.push(said, { $set: { lastUpdated: time(count) } });
    if (each.calls.length === 0) continue;
    const files = ({ result }: StoryCall): readonly object[] =>
      result?.image === undefined ? [] : [inline(result.image)];
    const toolCalls = each.calls.map((call) => ({
      id: call.id,
      name: call.tool,
      args: call.input,
      ...(call.result === undefined
        ? { status: "executing" }
        : { status: call.result.isError ? "error" : "success", result: [response(call), ...files(call)] }),
    }));
    // The same id again, with the calls; then their results once more, as a message of the user.
    records.push({ ...said, toolCalls });
    const answered = each.calls.filter(({ result }) => result !== undefined);
    if (answered.length > 0)
      records.push({
        id: `results-${count}`,
        timestamp: time(count),
        type: "user",
        content: answered.flatMap((call) => [response(call), ...files(call)]),
      });
  }
  return {
    [`.gemini/tmp/project/chats/session-2026-01-02T03-04-0a1b2c3d.jsonl`]: lines(records),
    ".gemini/tmp/project/.project_root": folder,
  };
};

const piImage = (data: string): object => ({ type: "image", data, mimeType: png });

const writePi =
  (base: string) =>
  (story: Story, folder: string): WrittenFiles => {
    const records: object[] = [{ type: "session", version: 3, id, timestamp: time(0), cwd: folder }];
    let [count, parent] = [0, null as string | null];
    const entry = (fields: object): void => {
      const own = (count += 1).toString(16).padStart(8, "0");
      records.push({ id: own, parentId: parent, timestamp: time(count), ...fields });
      parent = own;
    };
    entry({ type: "model_change", provider: "anthropic", modelId: "claude-sonnet-5" });
    for (const each of stepsOf(story)) {
      if (isTurn(each)) {
        const content = [
          { type: "text", text: each.prompt },
          ...(each.image === undefined ? [] : [piImage(each.image)]),
        ];
        entry({ type: "message", message: { role: "user", content } });
        continue;
      }
      const content = [
        ...(each.thinking === undefined
          ? []
          : [{ type: "thinking", thinking: each.thinking, thinkingSignature: "c2ln" }]),
        ...(each.text === undefined ? [] : [{ type: "text", text: each.text }]),
        ...each.calls.map(({ id: call, tool, input }) => ({
          type: "toolCall",
          id: call,
          name: tool,
          arguments: input,
        })),
      ];
      entry({
        type: "message",
        message: {
          role: "assistant",
          content,
          api: "anthropic-messages",
          provider: "anthropic",
          model: "claude-sonnet-5",
          stopReason: "stop",
        },
      });
      for (const { id: call, tool, result } of each.calls)
        if (result !== undefined)
          entry({
            type: "message",
            message: {
              role: "toolResult",
              toolCallId: call,
              toolName: tool,
              content: [
                { type: "text", text: result.text },
                ...(result.image === undefined ? [] : [piImage(result.image)]),
              ],
              isError: result.isError,
            },
          });
    }
    return { [`${base}/sessions/-${dashed(folder)}--/2026-01-02T03-04-05-000Z_${id}.jsonl`]: lines(records) };
  };

const writeQwen = (story: Story, folder: string): WrittenFiles => {
  const records: object[] = [];
  let [count, parent] = [0, null as string | null];
  const line = (fields: object): void => {
    const uuid = `line-${(count += 1)}`;
    records.push({
      uuid,
      parentUuid: parent,
      sessionId: id,
      timestamp: time(count),
      cwd: folder,
      version: "0.24.4",
      ...fields,
    });
    parent = uuid;
  };
  for (const each of stepsOf(story)) {
    if (isTurn(each)) {
      const parts = [{ text: each.prompt }, ...(each.image === undefined ? [] : [inline(each.image)])];
      line({ type: "user", message: { role: "user", parts } });
      line({ type: "system", subtype: "ui_telemetry", systemPayload: {} });
      continue;
    }
    const parts = [
      ...(each.thinking === undefined ? [] : [{ text: each.thinking, thought: true, thoughtSignature: "c2ln" }]),
      ...(each.text === undefined ? [] : [{ text: each.text }]),
      ...each.calls.map(({ id: call, tool, input }) => ({ functionCall: { id: call, name: tool, args: input } })),
    ];
    line({ type: "assistant", model: "qwen3-coder-plus", message: { role: "model", parts } });
    for (const { id: call, tool, result } of each.calls) {
      if (result === undefined) continue;
      const content = result.isError ? { error: result.text } : { output: result.text };
      const files = result.image === undefined ? {} : { parts: [inline(result.image)] };
      line({
        type: "tool_result",
        message: { role: "user", parts: [{ functionResponse: { id: call, name: tool, response: content, ...files } }] },
        toolCallResult: { callId: call, status: result.isError ? "error" : "success" },
      });
    }
  }
  return { [`.qwen/projects/${dashed(folder)}/chats/${id}.jsonl`]: lines(records) };
};

const writeCopilot = (story: Story, folder: string): WrittenFiles => {
  const records: object[] = [];
  let count = 0;
  const event = (type: string, data: object): void => {
    records.push({
      type,
      data,
      id: `event-${(count += 1)}`,
      timestamp: time(count),
      parentId: count === 1 ? null : `event-${count - 1}`,
    });
  };
  event("session.start", { sessionId: id, selectedModel: "gpt-5", context: { cwd: folder } });
  const asset = (data: string): object => {
    const assetId = `sha256:${data.length}-${count}`;
    event("session.binary_asset", { assetId, mimeType: png, data });
    return { assetId, mimeType: png };
  };
  for (const each of stepsOf(story)) {
    if (isTurn(each)) {
      const attachments = each.image === undefined ? [] : [asset(each.image)];
      event("user.message", { content: each.prompt, transformedContent: `added ${each.prompt}`, attachments });
      continue;
    }
    event("assistant.message", {
      messageId: `m-${count}`,
      model: "gpt-5",
      content: each.text ?? "",
      toolRequests: each.calls.map(({ id: call, tool, input }) => ({
        toolCallId: call,
        name: tool,
        arguments: input,
        type: "function",
      })),
      ...(each.thinking === undefined ? {} : { reasoningText: each.thinking, reasoningOpaque: "b3BhcXVl" }),
    });
    // Results come in the order the calls ended.
    for (const { id: call, result } of each.calls.toReversed()) {
      if (result === undefined) continue;
      const files = result.image === undefined ? {} : { binaryResultsForLlm: [asset(result.image)] };
      event("tool.execution_complete", {
        toolCallId: call,
        success: !result.isError,
        ...(result.isError
          ? { error: { message: result.text }, result: files }
          : { result: { content: result.text, ...files } }),
      });
    }
  }
  return {
    [`.copilot/session-state/${id}/events.jsonl`]: lines(records),
    [`.copilot/session-state/${id}/workspace.yaml`]: `id: ${id}\ncwd: ${folder}\n`,
  };
};

const writeKimi = (story: Story, folder: string): WrittenFiles => {
  const records: object[] = [{ type: "profile.bind", systemPrompt: "added", model: "kimi-k2.5" }];
  const url = (data: string): object => ({ type: "image_url", imageUrl: { url: `data:${png};base64,${data}` } });
  const loop = (event: object): void => void records.push({ type: "context.append_loop_event", event });
  for (const each of stepsOf(story)) {
    if (isTurn(each)) {
      const content = [{ type: "text", text: each.prompt }, ...(each.image === undefined ? [] : [url(each.image)])];
      records.push({
        type: "context.append_message",
        message: { role: "user", content, toolCalls: [], origin: { kind: "user" } },
      });
      records.push({
        type: "context.append_message",
        message: { role: "user", content: [{ type: "text", text: "added" }], origin: { kind: "injection" } },
      });
      continue;
    }
    loop({ type: "step.begin" });
    if (each.thinking !== undefined) loop({ type: "content.part", part: { type: "think", think: each.thinking } });
    if (each.text !== undefined) loop({ type: "content.part", part: { type: "text", text: each.text } });
    for (const { id: call, tool, input } of each.calls)
      loop({ type: "tool.call", toolCallId: call, name: tool, args: input });
    for (const { id: call, result } of each.calls)
      if (result !== undefined)
        loop({
          type: "tool.result",
          toolCallId: call,
          result: {
            output: result.image === undefined ? result.text : [{ type: "text", text: result.text }, url(result.image)],
            ...(result.isError ? { isError: true } : {}),
          },
        });
    loop({ type: "step.end", finishReason: "stop" });
  }
  return {
    [`.kimi-code/sessions/wd_project_1a2b/session_${id}/agents/main/wire.jsonl`]: lines(records),
    ".kimi-code/session_index.jsonl": lines([{ sessionId: `session_${id}`, workDir: folder }]),
  };
};

const writeCline = (story: Story, folder: string): WrittenFiles => {
  const messages = stepsOf(story).flatMap((each): readonly object[] => {
    if (isTurn(each)) {
      const words = { type: "text", text: `<user_input mode="act">${each.prompt}</user_input>` };
      return [{ role: "user", content: [words, ...(each.image === undefined ? [] : [anthropicImage(each.image)])] }];
    }
    const said = [
      ...(each.thinking === undefined ? [] : [{ type: "thinking", thinking: each.thinking, signature: "c2ln" }]),
      ...(each.text === undefined ? [] : [{ type: "text", text: each.text }]),
      ...each.calls.map(({ id: call, tool, input }) => ({ type: "tool_use", id: call, name: tool, input })),
    ];
    const results = each.calls.flatMap(({ id: call, result }) => {
      if (result === undefined) return [];
      const blocks =
        result.image === undefined
          ? result.text
          : [
              { type: "text", text: result.text },
              { type: "image", data: result.image, mediaType: png },
            ];
      return [
        {
          type: "tool_result",
          tool_use_id: call,
          content: [{ query: "q", result: blocks, success: !result.isError }],
          is_error: result.isError,
        },
      ];
    });
    const modelInfo = { id: "claude-sonnet-5", provider: "anthropic" };
    return [
      { role: "assistant", content: said, modelInfo },
      ...(results.length === 0 ? [] : [{ role: "user", content: results }]),
    ];
  });
  return {
    [`.cline/data/sessions/${id}/${id}.messages.json`]: JSON.stringify({ version: 1, messages }),
    [`.cline/data/sessions/${id}/${id}.json`]: JSON.stringify({ session_id: id, cwd: folder }),
  };
};

/** The writers by agent, for those whose sessions are text files. */
export const storyWriters: Readonly<Partial<Record<ForeignAgent, StoryWriter>>> = {
  claude: { limits: {}, write: writeClaude },
  // Codex records no errors, only their text.
  codex: { limits: { errors: false }, write: writeCodex },
  gemini: { limits: {}, write: writeGemini },
  pi: { limits: {}, write: writePi(".pi/agent") },
  omp: { limits: {}, write: writePi(".omp/agent") },
  qwen: { limits: {}, write: writeQwen },
  copilot: { limits: {}, write: writeCopilot },
  kimi: { limits: {}, write: writeKimi },
  cline: { limits: {}, write: writeCline },
};
