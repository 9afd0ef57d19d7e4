import { describe, expect, it } from "vitest";
import type { NewRecord } from "../../session/log/record.ts";
import { Journal } from "./journal.ts";

/** A log whose disk answers when the test says so. */
const slowLog = () => {
  const writings: { readonly records: readonly NewRecord[]; readonly end: (error?: Error) => void }[] = [];
  const journal = new Journal({
    append: (records, written) =>
      new Promise((resolve, reject) => {
        writings.push({ records, end: (error) => (error === undefined ? resolve() : reject(error)) });
        written();
      }),
    storeBlobs: async () => undefined,
  });
  const say = (text: string): void => journal.ledger.user([{ type: "text", text }]);
  const said = (): readonly number[] => writings.map(({ records }) => records.length);
  return { journal, writings, say, said };
};

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("a journal", () => {
  it("writes what comes while the disk is busy as one, in order", async () => {
    const { journal, writings, say, said } = slowLog();
    say("one");
    const first = journal.commit();
    say("two");
    const second = journal.commit();
    say("three");
    const third = journal.commit();
    await turn();
    expect(said()).toEqual([1]);
    writings[0]?.end();
    await first;
    await turn();
    expect(said()).toEqual([1, 2]);
    writings[1]?.end();
    await Promise.all([second, third]);
  });

  it("does not write what is being written already", async () => {
    const { journal, writings, say, said } = slowLog();
    say("one");
    const saves = [journal.commit(), journal.commit()];
    await journal.submitted;
    writings[0]?.end();
    await Promise.all(saves);
    await journal.commit();
    expect(said()).toEqual([1]);
  });

  it("says when only the disk is waited for, also of what has to wait its turn", async () => {
    const { journal, writings, say } = slowLog();
    const heard: string[] = [];
    const hear = (what: string, done: Promise<void>): void => void done.then(() => heard.push(what));
    say("one");
    hear("one kept", journal.commit());
    hear("one handed", journal.submitted);
    await turn();
    journal.appendMetadata({ kind: "title", title: "t" });
    hear("two kept", journal.commit());
    hear("two handed", journal.submitted);
    await turn();
    expect(heard).toEqual(["one handed"]);
    writings[0]?.end();
    await turn();
    expect(heard).toEqual(["one handed", "one kept", "two handed"]);
    writings[1]?.end();
    await turn();
    expect(heard).toEqual(["one handed", "one kept", "two handed", "two kept"]);
  });

  it("tries again what could not be written, with what came since", async () => {
    const { journal, writings, say } = slowLog();
    say("one");
    const first = journal.commit();
    say("two");
    const second = journal.commit();
    writings[0]?.end(new Error("full"));
    await expect(first).rejects.toThrow("full");
    await turn();
    expect(writings[1]?.records).toHaveLength(2);
    writings[1]?.end();
    await second;
  });
});
