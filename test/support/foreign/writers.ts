import type { ForeignAgent } from "../../../src/foreign/agents.ts";
import type { Story, StoryCall, StoryLimits, StoryMark, StoryStep, StoryTurn } from "./story.ts";

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
const subagentId = (index: number): string => `0a1b2c3d-0000-4000-8000-00000000${(index + 16).toString(16)}${"00"}`;
const stepsOf = ({ turns }: Story): readonly (StoryTurn | StoryStep | StoryMark)[] =>
  turns.flatMap((turn): readonly (StoryTurn | StoryStep | StoryMark)[] =>
    "mark" in turn ? [turn] : [turn, ...turn.steps],
  );
const isTurn = (each: StoryTurn | StoryStep): each is StoryTurn => "prompt" in each;

/** Merges the files of a session and of its subagents; the session's come first. */
const withSubagents = (
  { subagents = [] }: Story,
  main: WrittenFiles,
  write: (story: Story, index: number) => WrittenFiles,
): WrittenFiles => ({ ...main, ...Object.assign({}, ...subagents.map(write)) });
const png = "image/png";

const anthropicImage = (data: string): object => ({ type: "image", source: { type: "base64", media_type: png, data } });

/** Claude Code: a line per block; results hang on the line of their own call, so that parallel calls fork the tree. */
const claudeLines = (story: Story, folder: string, fields: object = {}): string => {
  const records: object[] = [{ type: "mode", mode: "normal", sessionId: id }];
  let [count, parent] = [0, null as string | null];
  const starts: { readonly before: string | null; readonly first: string }[] = [];
  const line = (own: object, on: string | null = parent): string => {
    const uuid = `line-${(count += 1)}`;
    records.push({
      uuid,
      parentUuid: on,
      sessionId: id,
      cwd: folder,
      timestamp: time(count),
      isSidechain: false,
      ...fields,
      ...own,
    });
    return uuid;
  };
  for (const each of stepsOf(story)) {
    if ("mark" in each) {
      if (each.mark === "leave") parent = starts.splice(-each.turns)[0]!.before;
      else {
        const headUuid = each.keep === 0 ? undefined : starts.at(-each.keep)?.first;
        const boundary = line(
          {
            type: "system",
            subtype: "compact_boundary",
            logicalParentUuid: parent,
            compactMetadata: {
              trigger: "manual",
              ...(headUuid === undefined ? {} : { preservedSegment: { headUuid } }),
            },
          },
          null,
        );
        parent = line(
          { type: "user", isCompactSummary: true, message: { role: "user", content: each.summary } },
          boundary,
        );
      }
      continue;
    }
    if (isTurn(each)) {
      const content =
        each.image === undefined ? each.prompt : [{ type: "text", text: each.prompt }, anthropicImage(each.image)];
      const before = parent;
      parent = line({ type: "user", message: { role: "user", content } });
      starts.push({ before, first: parent });
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
  return lines(records);
};

const writeClaude = (story: Story, folder: string): WrittenFiles => {
  const base = `.claude/projects/${dashed(folder)}/${id}`;
  return withSubagents(story, { [`${base}.jsonl`]: claudeLines(story, folder) }, (subagent, index) => ({
    [`${base}/subagents/agent-${index}.jsonl`]: claudeLines(subagent, folder, { isSidechain: true }),
  }));
};

const codexImage = (data: string): object => ({ type: "input_image", image_url: `data:${png};base64,${data}` });

const codexFile = (story: Story, folder: string, own: string, fields: object = {}): WrittenFiles => {
  const records: object[] = [
    {
      timestamp: time(0),
      type: "session_meta",
      payload: { id: own, cwd: folder, model_provider: "openai", timestamp: time(0), ...fields },
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
    if ("mark" in each) {
      if (each.mark === "leave")
        records.push({
          timestamp: time(1),
          type: "event_msg",
          payload: { type: "thread_rolled_back", num_turns: each.turns },
        });
      else {
        // The model's summary is a message first.
        item({ type: "message", role: "assistant", content: [{ type: "output_text", text: each.summary }] });
        records.push({ timestamp: time(1), type: "compacted", payload: { message: each.summary } });
      }
      continue;
    }
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
  return { [`.codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-${own}.jsonl`]: lines(records) };
};

const writeCodex = (story: Story, folder: string): WrittenFiles =>
  withSubagents(story, codexFile(story, folder, id), (subagent, index) =>
    codexFile(subagent, folder, subagentId(index), {
      parent_thread_id: id,
      source: { subagent: { thread_spawn: { parent_thread_id: id, depth: 1 } } },
    }),
  );

const inline = (data: string): object => ({ inlineData: { mimeType: png, data } });

const response = ({ id: call, tool, result }: StoryCall): object => ({
  functionResponse: {
    id: call,
    name: tool,
    response: result?.isError === true ? { error: result.text } : { output: result?.text },
  },
});

const geminiLines = (story: Story, kind: string): string => {
  const context = { id: "context", timestamp: time(0), type: "user", content: [{ text: "<session_context>added" }] };
  const records: object[] = [
    { sessionId: id, projectHash: "f0", startTime: time(0), lastUpdated: time(0), kind },
    { $set: { messages: [context] } },
  ];
  let count = 0;
  const files = ({ result }: StoryCall): readonly object[] =>
    result?.image === undefined ? [] : [inline(result.image)];
  const newMessage = (): { id: string; timestamp: string } => ({
    id: `message-${(count += 1)}`,
    timestamp: time(count),
  });
  const prompt = ({ prompt: text, image }: StoryTurn): readonly object[] => [
    { text },
    ...(image === undefined ? [] : [inline(image)]),
  ];
  // A turn once more, as the model gets it and under new ids.
  const repeat = (turn: StoryTurn): readonly object[] => [
    { ...newMessage(), type: "user", content: prompt(turn) },
    ...turn.steps.flatMap(({ thinking, text, calls }) => {
      const answered = calls.filter(({ result }) => result !== undefined);
      const parts = [
        ...(thinking === undefined ? [] : [{ text: thinking, thought: true }]),
        ...(text === undefined ? [] : [{ text }]),
        ...calls.map((call) => ({ functionCall: { id: call.id, name: call.tool, args: call.input } })),
      ];
      const results = answered.flatMap((call) => [response(call), ...files(call)]);
      return [
        { ...newMessage(), type: "gemini", content: parts },
        ...(results.length === 0 ? [] : [{ ...newMessage(), type: "user", content: results }]),
      ];
    }),
  ];
  let active: { readonly id: string; readonly turn: StoryTurn }[] = [];
  for (const each of stepsOf(story)) {
    if ("mark" in each) {
      if (each.mark === "leave") records.push({ $rewindTo: active.splice(-each.turns)[0]!.id });
      else {
        const kept = active.slice(active.length - each.keep);
        const messages = [
          context,
          { ...newMessage(), type: "user", content: [{ text: each.summary }] },
          { ...newMessage(), type: "gemini", content: [{ text: "Got it. Thanks for the additional context!" }] },
          ...kept.flatMap(({ turn }) => repeat(turn)),
        ];
        records.push({ $set: { messages } });
        // Once more, as in a session that is resumed.
        records.push({ sessionId: id, startTime: time(0), kind }, { $set: { messages } });
      }
      continue;
    }
    const message = newMessage();
    if (isTurn(each)) {
      active = [...active, { id: message.id, turn: each }];
      records.push({ ...message, type: "user", content: prompt(each) });
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
  return lines(records);
};

const writeGemini = (story: Story, folder: string): WrittenFiles => {
  const chats = ".gemini/tmp/project/chats";
  const main = {
    [`${chats}/session-2026-01-02T03-04-0a1b2c3d.jsonl`]: geminiLines(story, "main"),
    ".gemini/tmp/project/.project_root": folder,
  };
  return withSubagents(story, main, (subagent, index) => ({
    [`${chats}/${id}/${subagentId(index)}.jsonl`]: geminiLines(subagent, "subagent"),
  }));
};

const piImage = (data: string): object => ({ type: "image", data, mimeType: png });

const piFile =
  (path: string) =>
  (story: Story, folder: string): WrittenFiles => {
    const records: object[] = [{ type: "session", version: 3, id, timestamp: time(0), cwd: folder }];
    let [count, parent] = [0, null as string | null];
    const starts: { readonly before: string | null; readonly first: string }[] = [];
    const entry = (fields: object): void => {
      const own = (count += 1).toString(16).padStart(8, "0");
      records.push({ id: own, parentId: parent, timestamp: time(count), ...fields });
      parent = own;
    };
    entry({ type: "model_change", provider: "anthropic", modelId: "claude-sonnet-5" });
    for (const each of stepsOf(story)) {
      if ("mark" in each) {
        if (each.mark === "leave") parent = starts.splice(-each.turns)[0]!.before;
        else {
          const first = each.keep === 0 ? "none" : starts.at(-each.keep)?.first;
          entry({ type: "compaction", summary: each.summary, firstKeptEntryId: first, tokensBefore: 1 });
        }
        continue;
      }
      if (isTurn(each)) {
        const content = [
          { type: "text", text: each.prompt },
          ...(each.image === undefined ? [] : [piImage(each.image)]),
        ];
        const before = parent;
        entry({ type: "message", message: { role: "user", content } });
        starts.push({ before, first: parent ?? "" });
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
    return { [path]: lines(records) };
  };

const writePi =
  (base: string) =>
  (story: Story, folder: string): WrittenFiles => {
    const path = `${base}/sessions/-${dashed(folder)}--/2026-01-02T03-04-05-000Z_${id}`;
    return withSubagents(story, piFile(`${path}.jsonl`)(story, folder), (subagent, index) =>
      piFile(`${path}/worker-${index}.jsonl`)(subagent, folder),
    );
  };

const qwenLines = (story: Story, folder: string): string => {
  const records: object[] = [];
  let [count, parent] = [0, null as string | null];
  const starts: (string | null)[] = [];
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
    if ("mark" in each) {
      if (each.mark === "leave") [parent = null] = starts.splice(-each.turns);
      else {
        const compressedHistory = [{ role: "user", parts: [{ text: each.summary }] }];
        line({ type: "system", subtype: "chat_compression", systemPayload: { compressedHistory } });
      }
      continue;
    }
    if (isTurn(each)) {
      starts.push(parent);
      const parts = [
        { text: "<system-reminder>added</system-reminder>" },
        { text: each.prompt },
        ...(each.image === undefined ? [] : [inline(each.image)]),
      ];
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
  return lines(records);
};

const writeQwen = (story: Story, folder: string): WrittenFiles => {
  const base = `.qwen/projects/${dashed(folder)}`;
  return withSubagents(story, { [`${base}/chats/${id}.jsonl`]: qwenLines(story, folder) }, (subagent, index) => ({
    [`${base}/subagents/${id}/agent-worker-${index}.jsonl`]: qwenLines(subagent, folder),
  }));
};

const writeCopilot = (story: Story, folder: string): WrittenFiles => {
  const records: object[] = [];
  let count = 0;
  let agentId: string | undefined;
  const event = (type: string, data: object): void => {
    records.push({
      type,
      data,
      ...(agentId === undefined ? {} : { agentId }),
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
  const steps = [story, ...(story.subagents ?? [])].flatMap((each, agent) =>
    stepsOf(each).map((step) => [step, agent] as const),
  );
  for (const [each, agent] of steps) {
    agentId = agent === 0 ? undefined : subagentId(agent);
    if ("mark" in each) {
      if (each.mark === "compact") event("session.compaction_complete", { summaryContent: each.summary });
      continue;
    }
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

const kimiLines = (story: Story): string => {
  const records: object[] = [{ type: "profile.bind", systemPrompt: "added", model: "kimi-k2.5" }];
  const url = (data: string): object => ({ type: "image_url", imageUrl: { url: `data:${png};base64,${data}` } });
  const loop = (event: object): void => void records.push({ type: "context.append_loop_event", event });
  for (const each of stepsOf(story)) {
    if ("mark" in each) {
      if (each.mark === "leave")
        records.push(
          { type: "agent.switched", branch: `undo-${records.length}`, turns: each.turns },
          { type: "context.undo", count: each.turns },
          { type: "context.undone", turns: each.turns },
        );
      else records.push({ type: "context.apply_compaction", summary: each.summary, compactedCount: records.length });
      continue;
    }
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
  return lines(records);
};

const writeKimi = (story: Story, folder: string): WrittenFiles => {
  const agents = `.kimi-code/sessions/wd_project_1a2b/session_${id}/agents`;
  const main = {
    [`${agents}/main/wire.jsonl`]: kimiLines(story),
    ".kimi-code/session_index.jsonl": lines([{ sessionId: `session_${id}`, workDir: folder }]),
  };
  return withSubagents(story, main, (subagent, index) => ({
    [`${agents}/agent-${index}/wire.jsonl`]: kimiLines(subagent),
  }));
};

const writeCline = (story: Story, folder: string): WrittenFiles => {
  const messages = stepsOf(story).flatMap((each): readonly object[] => {
    if ("mark" in each) return [];
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
  claude: { limits: { branches: "any", compactions: "keep", subagents: true }, write: writeClaude },
  // Codex records no errors, only their text.
  codex: { limits: { errors: false, branches: "any", compactions: "all", subagents: true }, write: writeCodex },
  gemini: { limits: { branches: "any", compactions: "keep", subagents: true }, write: writeGemini },
  pi: { limits: { branches: "any", compactions: "keep" }, write: writePi(".pi/agent") },
  omp: { limits: { branches: "any", compactions: "keep", subagents: true }, write: writePi(".omp/agent") },
  qwen: { limits: { branches: "any", compactions: "all", subagents: true }, write: writeQwen },
  copilot: { limits: { compactions: "all", subagents: true }, write: writeCopilot },
  kimi: { limits: { branches: "any", compactions: "all", subagents: true }, write: writeKimi },
  cline: { limits: {}, write: writeCline },
};
