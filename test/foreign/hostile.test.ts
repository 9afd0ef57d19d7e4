import { describe, expect, it } from "vitest";
import { findForeignSession, shortReferences } from "../../src/foreign/find.ts";
import { importForeignSession, type ImportedSession } from "../../src/foreign/import.ts";
import { listForeignSessions, type ForeignSession } from "../../src/foreign/list.ts";
import { renderRequest } from "../../src/providers/request.ts";
import { simulatedDisk, type SimulatedDisk } from "../../src/world/simulated/disk.ts";

const home = "/home/ada";
const folder = "/home/ada/app";
const path = `${home}/.claude/projects/-home-ada-app/1f2e3d4c.jsonl`;

const diskWith = (...lines: readonly (object | string)[]): SimulatedDisk => {
  const disk = simulatedDisk();
  disk.seed(folder, { kind: "folder" });
  const text = lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join("");
  disk.seed(path, { kind: "file", text });
  return disk;
};

const importOne = async (disk: SimulatedDisk): Promise<ImportedSession> => {
  const { sessions } = await listForeignSessions({ disk, env: {} }, { home, agents: ["claude"] });
  return importForeignSession({ disk }, sessions[0]!);
};

const said = (uuid: unknown, parentUuid: unknown, content: unknown, more: object = {}): object => ({
  type: "user",
  uuid,
  parentUuid,
  cwd: folder,
  message: { role: "user", content },
  ...more,
});

const answer = (uuid: string, parentUuid: string, id: string, block: object): object => ({
  type: "assistant",
  uuid,
  parentUuid,
  message: { id, model: "claude-sonnet-5", role: "assistant", content: [block] },
});

const texts = ({ conversation }: ImportedSession): readonly string[] =>
  conversation.entries.flatMap((entry) =>
    entry.type === "user" || entry.type === "model"
      ? entry.parts.flatMap((part) => (part.type === "text" ? [part.text] : []))
      : entry.type === "compaction"
        ? [`(${entry.summary} from ${entry.from})`]
        : [],
  );

describe("a hostile or damaged session", () => {
  it.each<[string, readonly (object | string)[], readonly string[], string | undefined]>([
    [
      "parents in a circle",
      [said("a", "b", "one"), said("b", "a", "two")],
      ["one", "two"],
      "links to a line that is not in the file",
    ],
    [
      "a parent that is missing",
      [said("a", null, "one"), said("b", "gone", "two")],
      ["one", "two"],
      "links to a line that is not in the file",
    ],
    ["one id twice", [said("a", null, "one"), said("a", null, "again")], ["one"], undefined],
    [
      "a line that is not JSON",
      [said("a", null, "one"), '{"type":"user"', said("b", "a", "two")],
      ["one", "two"],
      "lines that are not valid JSON",
    ],
    [
      "a value nested too deeply",
      [said("a", null, "one"), `{"a":${"[".repeat(5000)}${"]".repeat(5000)}}`],
      ["one"],
      "lines that are not valid JSON",
    ],
    [
      "wrong types everywhere",
      [said("a", null, "one"), said(7, {}, [3, null, [], { type: 9 }]), { message: [] }, said("b", "a", { text: 1 })],
      ["one"],
      "messages without an id",
    ],
    [
      "another branch",
      [said("a", null, "one"), said("b", "a", "left"), said("c", "a", "taken")],
      ["one", "taken"],
      "messages of other branches",
    ],
    [
      "a subagent in the same file",
      [said("a", null, "one"), said("s", null, "inner", { isSidechain: true })],
      ["one"],
      "lines of subagents (their results are kept)",
    ],
  ])("with %s is imported, and the rest is said", async (_, lines, expected, omitted) => {
    const imported = await importOne(diskWith(...lines));
    expect(texts(imported)).toEqual(expected);
    expect(imported.leftOut.map(({ what }) => what)).toEqual(
      omitted === undefined ? expect.anything() : expect.arrayContaining([omitted]),
    );
  });

  it("keeps what a compaction replaced, and the summary in its place", async () => {
    const imported = await importOne(
      diskWith(
        said("a", null, "old"),
        answer("b", "a", "m1", { type: "text", text: "older" }),
        { type: "system", subtype: "compact_boundary", uuid: "c", parentUuid: null, logicalParentUuid: "b" },
        said("d", "c", "summary", { isCompactSummary: true }),
        said("e", "d", "new"),
      ),
    );
    expect(texts(imported)).toEqual(["old", "older", "(summary from 2)", "new"]);
  });

  it("loses commands to the program and their output, as Claude Code records a compaction, and no prompt", async () => {
    const imported = await importOne(
      diskWith(
        said("a", null, "one"),
        answer("b", "a", "m1", { type: "text", text: "kept" }),
        {
          type: "system",
          subtype: "compact_boundary",
          uuid: "c",
          parentUuid: null,
          logicalParentUuid: "b",
          compactMetadata: { trigger: "manual", preservedSegment: { headUuid: "b", anchorUuid: "d", tailUuid: "b" } },
        },
        said("d", "c", "summary", { isCompactSummary: true, isVisibleInTranscriptOnly: true }),
        said("e", "d", "<command-name>/compact</command-name>\n<command-args></command-args>"),
        said("f", "e", "<local-command-stdout>Compacted</local-command-stdout>"),
        said("g", "f", "<command-name>/mine</command-name>\n<command-args>now</command-args>"),
        said("h", "g", "two"),
      ),
    );
    expect(texts(imported)).toEqual([
      "one",
      "kept",
      "(summary from 1)",
      "<command-name>/mine</command-name>\n<command-args>now</command-args>",
      "two",
    ]);
    expect(imported.leftOut).toContainEqual({ what: "commands to the program and their output", count: 2 });
  });

  it("keeps the signatures of thinking for the provider that wrote them, and for no other", async () => {
    const bodyFor = async (model: string, provider: string): Promise<string> => {
      const lines = [
        said("a", null, "one"),
        answer("b", "a", "m1", { type: "thinking", thinking: "hm", signature: "c2lnbmVk" }),
        answer("c", "b", "m1", { type: "tool_use", id: "toolu_1", name: "Read", input: {} }),
        said("d", "c", [{ type: "tool_result", tool_use_id: "toolu_1", content: "read" }]),
      ].map((line) => JSON.parse(JSON.stringify(line).replace("claude-sonnet-5", model)) as object);
      const { conversation } = await importOne(diskWith(...lines));
      return JSON.stringify(renderRequest(conversation, provider, { policy: { unsupportedMedia: "stub" } }).body);
    };
    expect(await bodyFor("claude-sonnet-5", "anthropic/claude-sonnet-5")).toContain("c2lnbmVk");
    expect(await bodyFor("claude-sonnet-5", "openai/gpt-5.6")).not.toContain("c2lnbmVk");
    expect(await bodyFor("claude-sonnet-5", "google/gemini-3-pro")).not.toContain("c2lnbmVk");
    // Claude Code pointed at another model: nothing says who signed.
    expect(await bodyFor("glm-5", "anthropic/claude-sonnet-5")).not.toContain("c2lnbmVk");
  });

  it("does not follow a link out of the agent's folder", async () => {
    const disk = simulatedDisk();
    disk.seed("/etc/secret.jsonl", { kind: "file", text: `${JSON.stringify(said("a", null, "secret"))}\n` });
    disk.seed(path, { kind: "link", to: "/etc/secret.jsonl" });
    disk.seed(`${home}/.claude/projects/linked`, { kind: "link", to: "/etc" });
    expect(await listForeignSessions({ disk, env: {} }, { home })).toEqual({
      sessions: [],
      problems: ["claude: 2 symbolic links are not followed."],
    });
  });

  it("is never looked up by a path in its id", async () => {
    const world = { disk: diskWith(said("a", null, "one")), env: {} };
    const find = (id: string): Promise<ForeignSession> =>
      findForeignSession(world, { agent: "claude", id }, { home, folder });
    await expect(find("../../../../etc/passwd")).rejects.toThrow("No session claude:../../../../etc/passwd.");
    expect((await find("1f2e")).id).toBe("1f2e3d4c");
  });

  it("of a thousand is found by its id without opening the others, and a list opens no more than it shows", async () => {
    const disk = diskWith(said("a", null, "one"));
    for (let number = 0; number < 1000; number += 1)
      disk.seed(`${home}/.claude/projects/-home-ada-app/9${String(number).padStart(7, "0")}.jsonl`, {
        kind: "file",
        text: `${JSON.stringify(said("a", null, `number ${number}`))}\n`,
      });
    let opened = 0;
    const counted: SimulatedDisk = {
      ...disk,
      openFolder: async (folderPath) => {
        opened += 1;
        return disk.openFolder(folderPath);
      },
    };
    const world = { disk: counted, env: {} };
    expect((await findForeignSession(world, { agent: "claude", id: "1f2e" }, { home, folder })).id).toBe("1f2e3d4c");
    expect(opened).toBeLessThan(10);
    opened = 0;
    const { sessions } = await listForeignSessions(world, { home, folder, limit: 50 });
    expect([sessions.length, opened < 80]).toEqual([50, true]);
  });

  it("is named by the shortest reference that is unique", () => {
    const session = (id: string): ForeignSession => ({
      agent: "codex",
      id,
      title: "",
      created: 0,
      modified: 0,
      size: 0,
      location: { base: "", path: [] },
    });
    const sessions = ["01a1ebb9-0001", "01a1ebb9-0002", "77"].map(session);
    expect([...shortReferences(sessions).values()]).toEqual(["codex:01a1ebb9-0001", "codex:01a1ebb9-0002", "codex:77"]);
  });
});
