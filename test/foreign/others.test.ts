import { describe, expect, it } from "vitest";
import type { ForeignAgent } from "../../src/foreign/agents.ts";
import { listForeignSessions } from "../../src/foreign/list.ts";
import { saveForeignSession, type SavedImport } from "../../src/foreign/save.ts";
import type { Conversation } from "../../src/conversation/entry.ts";
import { createSessionFixture } from "../../src/session/session.cases.ts";

const home = "/home/ada";
const folder = "/home/ada/app";
const parleyHome = "/home/someone/.parley";

type Line = Record<string, unknown>;

/** Imports the oldest session of an agent, then its forks. Returns what was saved and the words of each session of ours. */
const importAll = async (
  agent: ForeignAgent,
  files: Readonly<Record<string, readonly Line[]>>,
): Promise<{
  readonly saved: SavedImport;
  readonly again: SavedImport;
  readonly words: Readonly<Record<string, readonly string[]>>;
  readonly links: readonly (string | undefined)[];
}> => {
  const { sessions, world, disk } = createSessionFixture();
  disk.seed(folder, { kind: "folder" });
  for (const [path, lines] of Object.entries(files))
    disk.seed(`${home}/${path}`, { kind: "file", text: lines.map((line) => `${JSON.stringify(line)}\n`).join("") });
  const { sessions: found } = await listForeignSessions(
    { disk, env: {} },
    { home, folder: undefined, agents: [agent] },
  );
  const target = { world, home: parleyHome, sessions, root: folder };
  const [first, ...forks] = found.toSorted((one, other) => one.created - other.created);
  const saved = await saveForeignSession(target, first!);
  const again = await saveForeignSession(target, first!);
  const ids = [saved.id!, ...saved.others.map(({ id }) => id!)];
  for (const fork of forks) ids.push((await saveForeignSession(target, fork)).id!);
  const read = await Promise.all(ids.map((id) => sessions.read(id)));
  return {
    saved,
    again,
    words: Object.fromEntries(read.map((session) => [session.head.source?.id ?? "", wordsOf(session)])),
    links: read.map(({ head }) => head.source?.of),
  };
};

const wordsOf = ({ entries }: Pick<Conversation, "entries">): readonly string[] =>
  entries.flatMap((entry) => {
    if (entry.type === "completion")
      return entry.outcome.content.flatMap((part) => (part.type === "text" ? [`= ${part.text}`] : []));
    if (entry.type === "compaction") return [`(${entry.summary})`];
    if (entry.type !== "user" && entry.type !== "model") return [];
    return entry.parts.flatMap((part) =>
      part.type === "text" ? [part.text] : part.type === "call" ? [`${part.tool}()`] : [],
    );
  });

const said = (uuid: string, parentUuid: string | null, content: unknown, more: Line = {}): Line => ({
  type: "user",
  uuid,
  parentUuid,
  cwd: folder,
  message: { role: "user", content },
  ...more,
});

const answer = (uuid: string, parentUuid: string, id: string, block: Line, more: Line = {}): Line => ({
  type: "assistant",
  uuid,
  parentUuid,
  message: { id, model: "claude-sonnet-5", role: "assistant", content: [block] },
  ...more,
});

const claudePath = ".claude/projects/-home-ada-app/1f2e3d4c";

describe("the other conversations of an imported session", () => {
  it("of Claude Code are its left branches, each whole, and its subagents, in the file and beside it", async () => {
    const side = { isSidechain: true };
    const { saved, again, words, links } = await importAll("claude", {
      [`${claudePath}.jsonl`]: [
        said("a", null, "start"),
        // A branch with two parallel calls: the first result hangs beside the path.
        said("b", "a", "left"),
        answer("c1", "b", "m1", { type: "tool_use", id: "t1", name: "Read", input: {} }),
        answer("c2", "c1", "m1", { type: "tool_use", id: "t2", name: "Bash", input: {} }),
        said("r1", "c1", [{ type: "tool_result", tool_use_id: "t1", content: "one" }]),
        said("r2", "c2", [{ type: "tool_result", tool_use_id: "t2", content: "two" }]),
        answer("d", "r2", "m2", { type: "text", text: "end of left" }),
        { type: "system", subtype: "turn_duration", uuid: "s", parentUuid: "d" },
        said("i", null, "inline task", side),
        answer("j", "i", "m3", { type: "text", text: "inline done" }, side),
        said("e", "a", "taken"),
      ],
      [`${claudePath}/subagents/agent-77.jsonl`]: [
        said("x", null, "task", side),
        answer("y", "x", "m4", { type: "text", text: "done" }, side),
      ],
    });

    expect(words).toEqual({
      "1f2e3d4c": ["start", "taken"],
      "1f2e3d4c/d": ["start", "left", "Read()", "Bash()", "= one", "= two", "end of left"],
      "1f2e3d4c/j": ["inline task", "inline done"],
      "1f2e3d4c/agent-77": ["task", "done"],
    });
    expect(saved.others.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      "branch d",
      "subagent j",
      "subagent agent-77",
    ]);
    expect(links).toEqual([undefined, saved.id, saved.id, saved.id]);
    expect(saved.leftOut.filter(({ what }) => /branch|subagent/.test(what))).toEqual([]);
    expect([again.state, again.others]).toEqual(["unchanged", []]);
  });

  it("of pi and qwen-code are their left branches", async () => {
    const message = (id: string, parentId: string | null, role: string, text: string): Line => ({
      type: "message",
      id,
      parentId,
      message: { role, content: [{ type: "text", text }], provider: "anthropic", model: "claude-sonnet-5" },
    });
    const pi = await importAll("pi", {
      ".pi/agent/sessions/--home-ada-app--/2026_99.jsonl": [
        { type: "session", id: "99", cwd: folder },
        message("a", null, "user", "start"),
        message("b", "a", "assistant", "first try"),
        message("c", "a", "assistant", "second try"),
        message("d", "c", "user", "left here"),
        message("e", "c", "user", "taken"),
      ],
    });
    expect(pi.words).toEqual({
      "99": ["start", "second try", "taken"],
      "99/d": ["start", "second try", "left here"],
      "99/b": ["start", "first try"],
    });
    const turn = (uuid: string, parentUuid: string | null, role: string, text: string): Line => ({
      uuid,
      parentUuid,
      cwd: folder,
      type: role === "user" ? "user" : "assistant",
      message: { role, parts: [{ text }] },
    });
    const qwen = await importAll("qwen", {
      ".qwen/projects/-home-ada-app/chats/88.jsonl": [
        turn("a", null, "user", "start"),
        turn("b", "a", "model", "left"),
        turn("c", "a", "model", "taken"),
      ],
    });
    expect(qwen.words).toEqual({ "88": ["start", "taken"], "88/b": ["start", "left"] });
  });

  it("of Gemini CLI are those of its subagents, in the folder with the session's whole id", async () => {
    const chats = ".gemini/tmp/app/chats";
    const header = (kind: string): Line => ({
      sessionId: "0badcafe-1111-2222",
      kind,
      startTime: "2026-01-01T00:00:00Z",
    });
    const { words } = await importAll("gemini", {
      [`${chats}/session-2026-01-01T00-00-0badcafe.jsonl`]: [
        header("main"),
        { id: "1", type: "user", content: "start" },
        { id: "2", type: "gemini", content: "done", model: "gemini-3-pro" },
      ],
      [`${chats}/0badcafe-1111-2222/worker.jsonl`]: [
        header("subagent"),
        { id: "1", type: "user", content: "task" },
        { id: "2", type: "gemini", content: "task done", model: "gemini-3-pro" },
      ],
    });
    expect(words).toEqual({ "0badcafe": ["start", "done"], "0badcafe/worker": ["task", "task done"] });
  });

  it("of Gemini CLI are not the files it writes when a session is resumed, which have the same id", async () => {
    const chats = ".gemini/tmp/app/chats";
    const header = { sessionId: "0badcafe-1111-2222", kind: "main", startTime: "2026-01-01T00:00:00Z" };
    const context = { id: "c", type: "user", content: "<session_context>" };
    const { words } = await importAll("gemini", {
      [`${chats}/session-2026-01-01T00-00-0badcafe.jsonl`]: [
        header,
        { id: "1", type: "user", content: "start" },
        { id: "2", type: "gemini", content: "done", model: "gemini-3-pro" },
      ],
      [`${chats}/session-2026-01-01T00-01-0badcafe.jsonl`]: [
        { ...header, startTime: "2026-01-01T00:01:00Z" },
        { $set: { messages: [context] } },
        { id: "3", type: "info", content: "" },
      ],
    });
    expect(words).toEqual({ "0badcafe": ["start", "done"] });
  });

  it("of Codex are the turns that were rolled back, its subagents and theirs, and forks with the part they share", async () => {
    const uuid = (digit: number): string => `00000000-0000-4000-8000-00000000000${digit}`;
    const path = (digit: number): string =>
      `.codex/sessions/2026/01/0${digit + 1}/rollout-2026-01-0${digit + 1}T00-00-00-${uuid(digit)}.jsonl`;
    const meta = (digit: number, more: Line = {}): Line => ({
      ordinal: 0,
      type: "session_meta",
      payload: { id: uuid(digit), cwd: folder, timestamp: `2026-01-0${digit + 1}T00:00:00Z`, ...more },
    });
    const item = (ordinal: number, role: string, text: string): Line => ({
      ordinal,
      type: "response_item",
      payload: { type: "message", role, content: [{ type: "text", text }] },
    });
    const spawnedBy = (digit: number): Line => ({
      parent_thread_id: uuid(digit),
      source: { subagent: { thread_spawn: { parent_thread_id: uuid(digit) } } },
    });
    const rollback = { type: "event_msg", payload: { type: "thread_rolled_back", num_turns: 1 } };
    const { saved, words, links } = await importAll("codex", {
      [path(0)]: [
        meta(0),
        item(1, "user", "start"),
        item(2, "assistant", "begun"),
        item(3, "user", "left"),
        item(4, "assistant", "end of left"),
        { ordinal: 5, ...rollback },
        item(6, "user", "taken"),
      ],
      [path(1)]: [meta(1, spawnedBy(0)), item(1, "user", "task"), item(2, "assistant", "done")],
      [path(2)]: [meta(2, spawnedBy(1)), item(1, "user", "task of the task")],
      // Two forks, one of the other; the files have only their own part.
      [path(3)]: [
        meta(3, { forked_from_id: uuid(0), history_base: { thread_id: uuid(0), end_ordinal_exclusive: 3 } }),
        item(3, "user", "forked"),
      ],
      [path(4)]: [
        meta(4, { forked_from_id: uuid(3), history_base: { thread_id: uuid(3), end_ordinal_exclusive: 4 } }),
        item(4, "user", "forked again"),
      ],
    });
    expect(words).toEqual({
      [uuid(0)]: ["start", "begun", "taken"],
      [`${uuid(0)}/rollback-1`]: ["start", "begun", "left", "end of left"],
      [`${uuid(0)}/${uuid(1)}`]: ["task", "done"],
      [`${uuid(0)}/${uuid(2)}`]: ["task of the task"],
      [uuid(3)]: ["start", "begun", "forked"],
      [uuid(4)]: ["start", "begun", "forked", "forked again"],
    });
    expect(links.slice(0, 5)).toEqual([undefined, saved.id, saved.id, saved.id, saved.id]);
    expect(links[5]).not.toBe(saved.id);
    expect(saved.leftOut.filter(({ what }) => /branch|subagent/.test(what))).toEqual([]);
  });

  it("of a fork without the session it was made from are what is left, and that is said", async () => {
    const base = { thread_id: "11111111-0000-4000-8000-000000000000", end_ordinal_exclusive: 3 };
    const { saved, words } = await importAll("codex", {
      ".codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-22222222-0000-4000-8000-000000000000.jsonl": [
        { type: "session_meta", payload: { id: "2", cwd: folder, history_base: base } },
        { type: "response_item", payload: { type: "message", role: "user", content: [{ text: "forked" }] } },
      ],
    });
    expect(Object.values(words)).toEqual([["forked"]]);
    expect(saved.leftOut).toContainEqual({ what: "beginnings that are in a session no longer there", count: 1 });
  });
});
