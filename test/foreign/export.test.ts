import { describe, expect, it } from "vitest";
import type { Conversation, Entry } from "../../src/conversation/entry.ts";
import { exportClaude } from "../../src/foreign/export/claude.ts";
import { exportPi } from "../../src/foreign/export/pi.ts";
import { importForeignSession } from "../../src/foreign/import.ts";
import { listForeignSessions } from "../../src/foreign/list.ts";
import { newSessionFromConversation } from "../../src/session/store/create.ts";
import { createSessionFixture } from "../../src/session/session.cases.ts";
import { simulatedDisk } from "../../src/world/simulated/disk.ts";
import { expectedMessages, makeStory, toldMessages } from "../support/foreign/story.ts";
import { storyWriters } from "../support/foreign/writers.ts";
import { perTier, seedFor } from "../support/tier.ts";

const home = "/home/ada";
const folder = "/home/ada/code/app";
const runs = perTier({ quick: 10, all: 100 });

const readBack = async (path: string, text: string, agent: "claude" | "pi"): Promise<Conversation> => {
  const disk = simulatedDisk();
  disk.seed(folder, { kind: "folder" });
  disk.seed(path.replace("~", home), { kind: "file", text });
  const { sessions } = await listForeignSessions({ disk, env: {} }, { home, folder, agents: [agent] });
  return (await importForeignSession({ disk }, sessions[0]!)).conversation;
};

describe.each([
  ["claude", exportClaude],
  ["pi", exportPi],
] as const)("a session exported to %s", (agent, exportSession) => {
  it("is where that agent looks for it, and says everything exactly once", async () => {
    for (let index = 0; index < runs; index++) {
      const story = makeStory(seedFor(index));
      const [[path, text] = ["", ""]] = Object.entries(storyWriters[agent]!.write(story, folder));
      const { sessions } = createSessionFixture();
      const conversation = await readBack(`~/${path}`, text, agent);
      const session = await sessions.create(
        newSessionFromConversation(conversation, { root: folder, title: "Told twice" }),
      );
      const file = exportSession(session);
      await session.close();
      const again = await readBack(file.destination, file.text, agent);
      // A call that was interrupted comes back as a failed one: neither agent has a word for it.
      const expected = JSON.parse(
        JSON.stringify(expectedMessages(story)).replaceAll('"interrupted"', '"error"'),
      ) as unknown;
      const told = JSON.parse(
        JSON.stringify(toldMessages(again)).replaceAll(/"texts":\["No result was recorded[^"]*"\]/g, '"texts":[]'),
      ) as unknown;
      expect(told).toEqual(expected);
    }
  });

  it("keeps signatures of the provider they belong to and leaves out thinking it could not send back", async () => {
    const origin = { provider: "anthropic", model: "claude-sonnet-5" };
    const other = { provider: "deepseek", model: "deepseek-chat" };
    const { sessions } = createSessionFixture();
    const session = await sessions.create(
      newSessionFromConversation(
        {
          version: 1,
          entries: [
            { type: "user", parts: [{ type: "text", text: "Hi" }] },
            {
              type: "model",
              origin,
              parts: [
                { type: "thinking", text: "own", seal: { signature: "c2ln" } },
                { type: "text", text: "A" },
              ],
            },
            { type: "compaction", summary: "They said hi.", from: 2 },
            {
              type: "model",
              origin: other,
              parts: [
                { type: "thinking", text: "foreign" },
                { type: "text", text: "B" },
              ],
            },
          ],
          blobs: {},
        },
        { root: folder },
      ),
    );
    await session.close();
    const file = exportSession(await sessions.read(session.id));
    expect(file.leftOut).toEqual({ thinking: 1 });
    const { entries } = await readBack(file.destination, file.text, agent);
    expect(entries.map((entry) => (entry.type === "model" ? entry.parts : entry.type))).toEqual([
      "user",
      [
        { type: "thinking", text: "own", seal: { signature: "c2ln" } },
        { type: "text", text: "A" },
      ],
      "compaction",
      [{ type: "text", text: "B" }],
    ]);
    expect(entries[2]).toEqual({ type: "compaction", summary: "They said hi.", from: 2 });
  });

  it("keeps the messages that a compaction keeps, after its summary", async () => {
    const origin = { provider: "anthropic", model: "claude-sonnet-5" };
    const say = (words: string): readonly Entry[] => [
      { type: "user", parts: [{ type: "text", text: `${words}?` }] },
      { type: "model", origin, parts: [{ type: "text", text: `${words}!` }] },
    ];
    const entries: readonly Entry[] = [
      ...say("one"),
      ...say("two"),
      { type: "compaction", summary: "First summary.", from: 2 },
      ...say("three"),
      { type: "compaction", summary: "Second summary.", from: 6 },
      ...say("four"),
    ];
    const { sessions } = createSessionFixture();
    const session = await sessions.create(
      newSessionFromConversation({ version: 1, entries, blobs: {} }, { root: folder }),
    );
    await session.close();
    const file = exportSession(await sessions.read(session.id));
    expect((await readBack(file.destination, file.text, agent)).entries).toEqual(entries);
  });
});
