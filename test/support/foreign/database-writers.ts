import type { ForeignAgent } from "../../../src/foreign/agents.ts";
import type { Story, StoryLimits, StoryStep, StoryTurn } from "./story.ts";
import type { SqliteTable } from "./sqlite-file.ts";

/** A database of another agent: its path below the home folder (or the project), and its tables. */
type DatabaseStory = {
  readonly path: string;
  readonly tables: Readonly<Record<string, SqliteTable>>;
};

const time = 1_767_323_045_000;
const png = "image/png";
const url = (data: string): string => `data:${png};base64,${data}`;
const key = (prefix: string, count: number): string => `${prefix}_${String(count).padStart(6, "0")}`;

const sessionId = (index: number): string => `ses_${index + 1}`;

const writeOpencode = (story: Story, folder: string): DatabaseStory => {
  const messages: (string | number)[][] = [];
  const parts: (string | number)[][] = [];
  let revert = "";
  let session = "";
  const message = (data: object, own: readonly object[]): string => {
    const id = key("msg", messages.length);
    messages.push([id, session, time, JSON.stringify(data)]);
    for (const part of own) parts.push([key("prt", parts.length), id, session, JSON.stringify(part)]);
    return id;
  };
  const writeTurn = ({ prompt, image, steps }: StoryTurn): string => {
    const file = image === undefined ? [] : [{ type: "file", mime: png, url: url(image) }];
    const first = message({ role: "user" }, [
      { type: "text", text: prompt },
      { type: "text", text: "added", synthetic: true },
      ...file,
    ]);
    for (const { thinking, text, calls } of steps)
      message({ role: "assistant", providerID: "anthropic", modelID: "claude-sonnet-5" }, [
        { type: "step-start" },
        ...(thinking === undefined
          ? []
          : [{ type: "reasoning", text: thinking, metadata: { anthropic: { signature: "c2ln" } } }]),
        ...(text === undefined ? [] : [{ type: "text", text }]),
        ...calls.map(({ id, tool, input, result }) => ({
          type: "tool",
          callID: id,
          tool,
          state:
            result === undefined
              ? { status: "running", input }
              : result.isError
                ? {
                    status: "error",
                    input,
                    error: result.text,
                    ...(result.image === undefined ? {} : { attachments: [{ url: url(result.image) }] }),
                  }
                : {
                    status: "completed",
                    input,
                    output: result.text,
                    ...(result.image === undefined ? {} : { attachments: [{ url: url(result.image) }] }),
                  },
        })),
        { type: "step-finish" },
      ]);
    return first;
  };
  const sessions = [story, ...(story.subagents ?? [])];
  sessions.forEach(({ turns }, index) => {
    session = sessionId(index);
    const starts: string[] = [];
    for (const each of turns) {
      if (!("mark" in each)) starts.push(writeTurn(each));
      else if (each.mark === "leave") revert = JSON.stringify({ messageID: starts.at(-each.turns) });
      else {
        const tail = each.keep === 0 ? {} : { tail_start_id: starts.at(-each.keep) };
        message({ role: "user" }, [{ type: "compaction", auto: false, ...tail }]);
        message({ role: "assistant", summary: true }, [{ type: "text", text: each.summary }]);
      }
    }
  });
  return {
    path: ".local/share/opencode/opencode.db",
    tables: {
      session: {
        columns: ["id", "parent_id", "directory", "title", "time_created", "time_updated", "revert"],
        rows: sessions.map((_, index) => [
          sessionId(index),
          index === 0 ? "" : sessionId(index - 1),
          folder,
          "Told",
          time,
          time,
          index === 0 ? revert : "",
        ]),
      },
      message: { columns: ["id", "session_id", "time_created", "data"], rows: messages },
      part: { columns: ["id", "message_id", "session_id", "data"], rows: parts },
    },
  };
};

const writeGoose = (story: Story, folder: string): DatabaseStory => {
  const rows: (string | number)[][] = [];
  const sessions = [story, ...(story.subagents ?? [])];
  let session = "";
  const message = (role: string, items: readonly object[], metadata: object = {}): void =>
    void rows.push([
      key("m", rows.length),
      session,
      role,
      JSON.stringify(items),
      JSON.stringify({ userVisible: true, agentVisible: true, ...metadata }),
    ]);
  const text = (words: string): object => ({ type: "text", text: words });
  const image = (data: string): object => ({ type: "image", data, mimeType: png });
  /** All messages so far are for the person only, and the model gets a summary instead. */
  const writeSummary = (summary: string): void => {
    for (const row of rows)
      if (row[1] === session)
        row[4] = JSON.stringify({ ...(JSON.parse(String(row[4])) as object), agentVisible: false });
    message("user", [text(summary)], { userVisible: false });
    message("assistant", [text("Continue from the summary.")], { userVisible: false });
  };
  const writeTurn = ({ prompt, image: attached, steps }: StoryTurn): void => {
    message("user", [text(prompt), ...(attached === undefined ? [] : [image(attached)])]);
    message("user", [text("<turn-context>the time</turn-context>")], { userVisible: false, turnContext: true });
    for (const { thinking, text: words, calls } of steps) {
      message(
        "assistant",
        [
          ...(thinking === undefined ? [] : [{ type: "thinking", thinking, signature: "c2ln" }]),
          ...(words === undefined ? [] : [text(words)]),
          ...calls.map(({ id, tool, input }) => ({
            type: "toolRequest",
            id,
            toolCall: { status: "success", value: { name: tool, arguments: input } },
          })),
        ],
        { inference: { provider: "anthropic", requestedModel: "claude-sonnet-5" } },
      );
      const answered = calls.filter(({ result }) => result !== undefined);
      if (answered.length > 0)
        message(
          "user",
          answered.map(({ id, result }) => ({
            type: "toolResponse",
            id,
            toolResult: {
              status: "success",
              value: {
                content: [text(result!.text), ...(result!.image === undefined ? [] : [image(result!.image)])],
                isError: result!.isError,
              },
            },
          })),
        );
    }
  };
  sessions.forEach(({ turns }, index) => {
    session = `s${index + 1}`;
    for (const each of turns)
      if (!("mark" in each)) writeTurn(each);
      else if (each.mark === "compact") writeSummary(each.summary);
  });
  const times = ["2026-01-02 03:04:05", "2026-01-02 03:04:05"];
  return {
    path: ".local/share/goose/sessions/sessions.db",
    tables: {
      sessions: {
        columns: [
          "id",
          "name",
          "working_dir",
          "created_at",
          "updated_at",
          "provider_name",
          "model_config_json",
          "parent_session_id",
        ],
        rows: sessions.map((_, index) => [
          `s${index + 1}`,
          "Told",
          folder,
          ...times,
          "anthropic",
          '{"model_name":"claude-sonnet-5"}',
          index === 0 ? "" : `s${index}`,
        ]),
      },
      messages: {
        columns: ["message_id", "session_id", "role", "content_json", "metadata_json"],
        rows,
      },
    },
  };
};

const writeCrush = (story: Story): DatabaseStory => {
  const rows: (string | number)[][] = [];
  const sessions = [story, ...(story.subagents ?? [])];
  let session = "";
  const message = (role: string, parts: readonly object[], isSummary = 0): void =>
    void rows.push([
      key("m", rows.length),
      session,
      role,
      JSON.stringify(parts),
      "claude-sonnet-5",
      "anthropic",
      isSummary,
      time + rows.length,
    ]);
  const text = (words: string): object => ({ type: "text", data: { text: words } });
  const writePrompt = ({ prompt, image }: StoryTurn): void =>
    message("user", [
      text(prompt),
      ...(image === undefined ? [] : [{ type: "binary", data: { Path: "a.png", MIMEType: png, Data: image } }]),
      { type: "finish", data: {} },
    ]);
  const writeStep = ({ thinking, text: words, calls }: StoryStep): void => {
    message("assistant", [
      ...(thinking === undefined ? [] : [{ type: "reasoning", data: { thinking, signature: "c2ln" } }]),
      ...(words === undefined ? [] : [text(words)]),
      ...calls.map(({ id, tool, input }) => ({
        type: "tool_call",
        data: { id, name: tool, input: JSON.stringify(input), finished: true },
      })),
      { type: "finish", data: { reason: "end_turn" } },
    ]);
    for (const { id, tool, result } of calls)
      if (result !== undefined)
        message("tool", [
          {
            type: "tool_result",
            data: {
              tool_call_id: id,
              name: tool,
              content: result.text,
              is_error: result.isError,
              ...(result.image === undefined ? {} : { data: result.image, mime_type: png }),
            },
          },
        ]);
  };
  sessions.forEach(({ turns }, index) => {
    session = `s${index + 1}`;
    for (const each of turns)
      if (!("mark" in each)) {
        writePrompt(each);
        each.steps.forEach(writeStep);
      } else if (each.mark === "compact") message("assistant", [text(each.summary)], 1);
  });
  return {
    path: "app/.crush/crush.db",
    tables: {
      sessions: {
        columns: ["id", "parent_session_id", "title", "created_at", "updated_at"],
        rows: sessions.map((_, index) => [`s${index + 1}`, index === 0 ? "" : `s${index}`, "Told", time, time]),
      },
      messages: {
        columns: ["id", "session_id", "role", "parts", "model", "provider", "is_summary_message", "created_at"],
        rows,
      },
    },
  };
};

/** Writes a story into a database of an agent. */
type DatabaseWriter = {
  readonly limits: StoryLimits;
  readonly write: (story: Story, folder: string) => DatabaseStory;
};

/** The writers by agent, for those whose sessions are in a database. */
export const databaseWriters: readonly (readonly [ForeignAgent, DatabaseWriter])[] = [
  ["opencode", { limits: { branches: "last", compactions: "keep", subagents: true }, write: writeOpencode }],
  ["goose", { limits: { compactions: "all", subagents: true }, write: writeGoose }],
  ["crush", { limits: { compactions: "all", subagents: true }, write: writeCrush }],
];
