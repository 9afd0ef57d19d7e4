import { describe, expect, it } from "vitest";
import type { ForeignAgent } from "../../src/foreign/agents.ts";
import { importForeignSession, type ImportedSession } from "../../src/foreign/import.ts";
import { listForeignSessions } from "../../src/foreign/list.ts";
import { providers } from "../../src/providers/all.ts";
import { lint } from "../../src/rules/lint.ts";
import { composeRequest } from "../../src/wire/compose.ts";
import { simulatedDisk, type SimulatedDisk } from "../../src/world/simulated/disk.ts";
import {
  expectedConversations,
  makeBranchedStory,
  type Story,
  type StoryTurn,
  type ToldConversations,
} from "../support/foreign/story.ts";
import { importConversations, sortConversations } from "../support/foreign/conversations.ts";
import { storyWriters, type StoryWriter, type WrittenFiles } from "../support/foreign/writers.ts";
import { perTier, seedFor } from "../support/tier.ts";

const home = "/home/ada";
const folder = "/home/ada/code/app";
const runs = perTier({ quick: 15, all: 300 });
const tears = perTier({ quick: 12, all: 200 });
const writers = Object.entries(storyWriters) as [ForeignAgent, StoryWriter][];

const diskWith = (files: WrittenFiles): SimulatedDisk => {
  const disk = simulatedDisk();
  disk.seed(folder, { kind: "folder" });
  for (const [path, text] of Object.entries(files)) disk.seed(`${home}/${path}`, { kind: "file", text });
  return disk;
};

const importOnly = async (disk: SimulatedDisk, agent: ForeignAgent): Promise<ImportedSession | undefined> => {
  const { sessions } = await listForeignSessions({ disk, env: {} }, { home, folder: undefined, agents: [agent] });
  return sessions[0] === undefined ? undefined : importForeignSession({ disk }, sessions[0]);
};

const sorted = ({ main, others }: ToldConversations): ToldConversations => ({
  main,
  others: sortConversations(others),
});

/** The providers that would refuse the next request. */
const refusals = ({ conversation }: ImportedSession): readonly string[] =>
  providers.flatMap((provider) => {
    const destination = provider.destination(provider.defaultModel);
    const next = { type: "user", parts: [{ type: "text", text: "Next." }] } as const;
    const { body } = composeRequest({ ...conversation, entries: [...conversation.entries, next] }, destination, {
      policy: { unsupportedMedia: "stub", thinking: "own" },
      settings: {},
    });
    return lint(body, { wire: destination.wire.id, provider: provider.id, model: provider.defaultModel })
      .filter(({ level }) => level === "error")
      .map(({ rule, pointer }) => `${provider.id}: ${rule} at ${pointer}`);
  });

describe.each(writers)("a session of %s", (agent, { limits, write }) => {
  const stories = Array.from({ length: runs }, (_, index) => makeBranchedStory(seedFor(index), limits));

  it("is imported with every word, call, result and image exactly once, in every branch and subagent, and no folder is changed", async () => {
    for (const story of stories) {
      const disk = diskWith(write(story, folder));
      const before = disk.snapshot();
      expect(await importConversations({ disk, env: {} }, { home, agent })).toEqual(
        sorted(expectedConversations(story)),
      );
      expect(disk.snapshot()).toEqual(before);
    }
  });

  it("is accepted by every provider after the import", async () => {
    for (const story of stories.slice(0, Math.ceil(runs / 5))) {
      const imported = await importOnly(diskWith(write(story, folder)), agent);
      expect(imported && refusals(imported)).toEqual([]);
    }
  });

  it("is listed for its folder with title, and for no other", async () => {
    const [story] = stories as [Story];
    const disk = diskWith(write(story, folder));
    const world = { disk, env: {} };
    const { sessions } = await listForeignSessions(world, { home, folder });
    const title = (story.turns[0] as StoryTurn).prompt.replaceAll(/\s+/g, " ");
    expect(sessions.map((each) => [each.agent, each.folder, each.title])).toEqual([[agent, folder, title]]);
    expect((await listForeignSessions(world, { home, folder: "/home/ada/code" })).sessions).toEqual([]);
  });

  it("gives the same conversation each time", async () => {
    const disk = diskWith(write(stories[0]!, folder));
    expect(await importOnly(disk, agent)).toEqual(await importOnly(disk, agent));
  });

  it("torn at any byte is imported up to there, and the loss is said", async () => {
    const files = write(stories[1]!, folder);
    const [[path, text] = ["", ""]] = Object.entries(files);
    const bytes = Buffer.from(text);
    for (let tear = 1; tear < tears; tear++) {
      const at = Math.floor((bytes.length * tear) / tears);
      const torn = bytes.subarray(0, at).toString("utf8");
      const imported = await importOnly(diskWith({ ...files, [path]: torn }), agent).catch(
        (error: Error) => error.message,
      );
      const isWhole = torn.endsWith("\n") || bytes[at] === 10;
      if (typeof imported === "string") expect(imported).toMatch(/has no messages that can be imported/);
      else if (imported !== undefined && !isWhole)
        expect(imported.leftOut).toContainEqual({ what: "incomplete lines at the end of the file", count: 1 });
    }
  });
});
