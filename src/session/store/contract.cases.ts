import { afterEach, describe, expect, it } from "vitest";
import { text } from "../../conversation/builders.ts";
import type { SessionError } from "../error.ts";
import { exportConversation } from "../export/conversation.ts";
import { blobs, conversation, listEntryTexts, picture, root, userRecord } from "../session.cases.ts";
import { newSessionFromConversation } from "./create.ts";
import type { SessionStore } from "./store.ts";

/** A store under test. */
export type ContractStage = {
  readonly sessions: SessionStore;
  /** The same sessions, as another program sees them. */
  readonly other: SessionStore;
  /** Lets a millisecond pass: files are listed by the time of their last change. */
  readonly passTime: () => Promise<void>;
  readonly close: () => Promise<void>;
};

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "done",
    (error: unknown) => (error as SessionError).failure,
  );

/** Tests of the promises of every session store. The same tests run for files, memory and databases. */
export const describeSessionStore = (name: string, open: () => Promise<ContractStage>): void => {
  describe(`sessions in ${name}`, () => {
    const stages: ContractStage[] = [];
    const openStage = async (): Promise<ContractStage> => {
      const stage = await open();
      stages.push(stage);
      return stage;
    };
    afterEach(async () => {
      for (const stage of stages.splice(0)) await stage.close();
    });

    it("hold a conversation with its blobs, in another program too", async () => {
      const { sessions, other } = await openStage();
      const session = await sessions.create(newSessionFromConversation(conversation(), { root, title: "Cats" }));
      await session.close();

      expect(exportConversation(await other.read(session.id))).toEqual(conversation());
      const opened = await other.open(session.id);
      expect(exportConversation(opened)).toEqual(conversation());
      expect(opened.title).toBe("Cats");
      expect(opened.damage).toEqual([]);
      await opened.close();
    });

    it("hold appended records in order, with their numbers", async () => {
      const { sessions, other } = await openStage();
      const session = await sessions.create({ root });
      await Promise.all(["one", "two"].map((word) => session.append([userRecord(word)])));
      await session.append([userRecord("three"), { kind: "title", title: "Count" }]);
      await session.close();

      const read = await other.read(session.id);
      const records: string[] = [];
      for await (const { sequence, record } of read.records())
        records.push(`${sequence} ${record.kind}${record.kind === "entry" ? ` ${record.index}` : ""}`);
      expect(records).toEqual(["1 head", "2 entry 0", "3 entry 1", "4 entry 2", "5 title"]);
      expect(listEntryTexts(read)).toEqual(["one", "two", "three"]);
    });

    it("keep every character of a text", async () => {
      const { sessions, other } = await openStage();
      const words = 'NUL \u0000, tab \t, newline \n, \u2028, lone \ud800, é 漢 🐈, backslash \\ and "quotes"';
      const session = await sessions.create({ root, system: words });
      await session.append([{ kind: "entry", entry: { type: "user", parts: [text(words)] } }]);
      await session.append([{ kind: "title", title: words }]);
      await session.close();

      const read = await other.read(session.id);
      expect([read.head.system, read.title, ...listEntryTexts(read)]).toEqual([words, words, words]);
      expect((await other.list({ root })).map(({ title }) => title)).toEqual([words]);
    });

    it("copy a record at the time of the append", async () => {
      const { sessions, other } = await openStage();
      const session = await sessions.create({ root });
      const parts = [text("before")];
      const writing = session.append([{ kind: "entry", entry: { type: "user", parts } }]);
      parts.push(text("after"));
      await writing;
      await session.close();

      expect(listEntryTexts(await other.read(session.id))).toEqual(["before"]);
    });

    it("have one writer at a time", async () => {
      const { sessions, other } = await openStage();
      const session = await sessions.create({ root });
      await session.append([userRecord("one")]);

      for (const store of [sessions, other])
        expect(await failureOf(store.open(session.id))).toEqual({
          kind: "busy",
          id: session.id,
          by: expect.stringMatching(/^(process|worker) ./) as string,
        });
      expect(await failureOf(other.remove(session.id))).toMatchObject({ kind: "busy", id: session.id });
      expect(listEntryTexts(await other.read(session.id))).toEqual(["one"]);
      await session.close();
      const next = await other.open(session.id);
      await next.append([userRecord("two")]);
      await next.close();
      expect(listEntryTexts(await sessions.read(session.id))).toEqual(["one", "two"]);
    });

    it("refuse writes after they were closed, and can be closed twice", async () => {
      const { sessions } = await openStage();
      const session = await sessions.create({ root });
      await session.close();
      await session.close();

      expect(await failureOf(session.append([userRecord("late")]))).toEqual({ kind: "closed", id: session.id });
    });

    it("are listed with title, models and size, the last used first, and only if something was said", async () => {
      const { sessions, other, passTime } = await openStage();
      const unused = await sessions.create({ root, system: "Be brief." });
      const first = await sessions.create(newSessionFromConversation(conversation(), { root }));
      const second = await sessions.create({ root: "/home/someone/code/other" });
      await second.append([userRecord("Hello there")]);
      await passTime();
      await first.append([userRecord("And now?")]);
      await second.close();
      await first.close();

      const listed = await other.list();
      expect(
        listed.map(({ id, title, models, turns, root: project }) => ({ id, title, models, turns, project })),
      ).toEqual([
        {
          id: first.id,
          title: "What is on example.org?",
          models: ["anthropic/claude-sonnet-5", "openai/gpt-5.6"],
          turns: 2,
          project: root,
        },
        { id: second.id, title: "Hello there", models: [], turns: 1, project: "/home/someone/code/other" },
      ]);
      expect(listed[0]?.size).toBe((await other.read(first.id)).size);
      expect((await other.list({ root })).map(({ id }) => id)).toEqual([first.id]);
      expect((await other.list({ limit: 1 })).map(({ id }) => id)).toEqual([first.id]);
      await unused.close();
    });

    it("are listed with the first prompt that has words as title", async () => {
      const { sessions, other } = await openStage();
      const session = await sessions.create({ root });
      await session.append([userRecord(" ")]);
      await session.append([userRecord("Look at this")]);
      await session.append([userRecord("And now?")]);
      await session.close();
      expect((await other.list()).map(({ title, turns }) => ({ title, turns }))).toEqual([
        { title: "Look at this", turns: 3 },
      ]);
    });

    it("are found by a unique beginning of their id", async () => {
      const { sessions, other } = await openStage();
      const session = await sessions.create({ root });
      await session.close();

      expect((await other.read(session.id.slice(0, 9))).id).toBe(session.id);
      expect(await failureOf(other.read("zzz"))).toEqual({ kind: "not-found", id: "zzz" });
      expect(await failureOf(other.read(""))).toEqual({ kind: "not-found", id: "" });
      expect(await failureOf(other.read(session.id, { root: "/elsewhere" }))).toMatchObject({ kind: "not-found" });
      const more = await Promise.all([sessions.create({ root }), sessions.create({ root })]);
      for (const each of more) await each.close();
      expect(await failureOf(other.read(session.id.slice(0, 1)))).toMatchObject({ kind: "ambiguous" });
    });

    it("can be searched and renamed", async () => {
      const { sessions, other } = await openStage();
      const session = await sessions.create(newSessionFromConversation(conversation(), { root }));
      await session.close();
      await other.rename(session.id, "The cat page");

      expect((await other.search("a CAT")).map(({ summary, excerpts }) => [summary.title, excerpts.length])).toEqual([
        ["The cat page", 1],
      ]);
      expect((await other.search("cat page")).map(({ summary }) => summary.id)).toEqual([session.id]);
      expect(await other.search("dog")).toEqual([]);
      expect((await other.list()).map(({ title }) => title)).toEqual(["The cat page"]);
    });

    it("are removed with the blobs no other session uses", async () => {
      const { sessions, other } = await openStage();
      const start = newSessionFromConversation(conversation(), { root });
      const one = await sessions.create(start);
      const two = await sessions.create({ root });
      await two.storeBlobs(blobs);
      await two.append([{ kind: "entry", entry: { type: "user", parts: [picture.media] } }]);
      for (const session of [one, two]) await session.close();

      await other.remove(one.id);
      expect(await failureOf(other.read(one.id))).toMatchObject({ kind: "not-found" });
      expect((await other.read(two.id)).blobs).toEqual(blobs);
      await other.remove(two.id);
      expect(await other.list()).toEqual([]);
    });

    it("are pruned by number", async () => {
      const { sessions, other, passTime } = await openStage();
      const ids: string[] = [];
      for (const word of ["one", "two", "three"]) {
        const session = await sessions.create({ root });
        await session.append([userRecord(word)]);
        await session.close();
        ids.unshift(session.id);
        await passTime();
      }

      expect(await other.prune({ maxCount: 10 })).toEqual([]);
      expect(await other.prune({ maxCount: 1 })).toEqual(ids.slice(1));
      expect((await other.list()).map(({ id }) => id)).toEqual(ids.slice(0, 1));
    });

    it("report calls that await a decision", async () => {
      const { sessions, other } = await openStage();
      const session = await sessions.create({ root });
      const ask = (call: string) => ({ kind: "asked", call, approval: { title: call } }) as never;
      await session.append([ask("hist_tool_1"), ask("hist_tool_2")]);
      await session.append([{ kind: "decided", call: "hist_tool_1" as never, decision: { type: "once" } }]);
      await session.close();

      expect([...((await other.read(session.id)).notBegun ?? [])]).toEqual([["hist_tool_2", "undecided"]]);
    });

    it("tell of a missing blob", async () => {
      const { sessions, other } = await openStage();
      const session = await sessions.create({ root });
      await session.append([{ kind: "entry", entry: { type: "user", parts: [picture.media] } }]);
      await session.close();

      expect((await other.examine(session.id)).map(({ kind }) => kind)).toEqual(["missing-blob"]);
    });
  });
};
