import { describe, expect, it } from "vitest";
import { SessionError } from "../error.ts";
import type { SessionDamage } from "./damage.ts";
import { parseRecord } from "../log/content.ts";
import { encodeLine } from "../log/line.ts";
import {
  userRecord,
  findSessionFile,
  createSessionFixture,
  listEntryTexts,
  createClosedSession,
  type SessionFixture,
} from "../session.cases.ts";
import { perTier } from "../../../test/support/tier.ts";

const words = ["one", "two", "three", "four", "five"];

type Row = {
  readonly name: string;
  readonly corrupt: (lines: readonly string[]) => string;
  readonly left?: readonly string[];
  readonly damage?: readonly SessionDamage[];
  /** The bytes saved aside. */
  readonly aside?: (lines: readonly string[]) => string;
};

/** The start of a line, without its end. */
const half = (line = ""): string => line.slice(0, 60);
const join = (lines: readonly (string | undefined)[]): string => lines.map((line) => `${line}\n`).join("");
const lost = "(Part of the conversation was lost here: its record was damaged on disk.)";

// Line 0 is the head, lines 1 to 5 the prompts.
const rows: readonly Row[] = [
  { name: "nothing", corrupt: join },
  { name: "Windows line ends and a byte order mark", corrupt: (lines) => `\uFEFF${lines.join("\r\n")}\r\n` },
  {
    name: "spaces for tabs, and blank lines",
    corrupt: (lines) => `\n${lines.map((line) => `  ${line.trim()}\n\n`).join("")}`,
  },
  {
    name: "a truncated last line",
    corrupt: (lines) => join(lines.slice(0, 5)) + half(lines[5]),
    left: words.slice(0, 4),
    damage: [{ kind: "truncated-end", bytes: 60 }],
    aside: (lines) => half(lines[5]),
  },
  {
    name: "a last line without a newline",
    corrupt: (lines) => lines.join("\n"),
    damage: [{ kind: "no-final-newline" }],
  },
  {
    name: "zeros at the end",
    corrupt: (lines) => join(lines) + "\0".repeat(4096),
    damage: [{ kind: "truncated-end", bytes: 4096 }],
    aside: () => "\0".repeat(4096),
  },
  {
    name: "a page of zeros in the middle",
    corrupt: (lines) => `${join(lines.slice(0, 3))}${"\0".repeat(4096)}\n${join(lines.slice(4))}`,
    left: ["one", "two", lost, "four", "five"],
    damage: [
      { kind: "damaged", bytes: 4096, after: 3 },
      { kind: "lost", records: 1, after: 3 },
    ],
    aside: () => "\0".repeat(4096),
  },
  {
    name: "a truncated line followed by the next record",
    corrupt: (lines) => join([...lines.slice(0, 4), half(lines[4]) + lines[5]]),
    left: ["one", "two", "three", lost, "five"],
    damage: [
      { kind: "damaged", bytes: 60, after: 4 },
      { kind: "lost", records: 1, after: 4 },
    ],
    aside: (lines) => half(lines[4]),
  },
  {
    name: "two records on one line",
    corrupt: (lines) => join([lines[0], `${lines[1]}${lines[2]}`, ...lines.slice(3)]),
    damage: [{ kind: "shared-line", records: 1 }],
  },
  {
    name: "a letter changed in the middle",
    corrupt: (lines) => join(lines).replace("three", "thrEE"),
    left: ["one", "two", lost, "four", "five"],
    damage: [
      { kind: "damaged", bytes: 0, after: 3 },
      { kind: "lost", records: 1, after: 3 },
    ],
    aside: (lines) => lines[3]?.replace("three", "thrEE") ?? "",
  },
  {
    name: "missing lines",
    corrupt: (lines) => join(lines.toSpliced(3, 2)),
    left: ["one", "two", lost, "()", "five"],
    damage: [{ kind: "lost", records: 2, after: 3 }],
  },
  {
    name: "a repeated last line",
    corrupt: (lines) => join([...lines, lines[5]]),
    damage: [{ kind: "repeated", records: 1 }],
  },
  {
    name: "reordered lines",
    corrupt: (lines) => join([lines[0], lines[1], lines[3], lines[2], lines[5], lines[4]]),
    damage: [{ kind: "out-of-order", records: 2 }],
  },
  {
    name: "no first line",
    corrupt: (lines) => join(lines.slice(1)),
    damage: [{ kind: "no-head" }, { kind: "lost", records: 1, after: 0 }],
  },
  { name: "an empty file", corrupt: () => "", left: [], damage: [{ kind: "no-head" }] },
];

const createDamaged = async (
  corrupt: Row["corrupt"],
): Promise<{ fixture: SessionFixture; id: string; path: string; lines: readonly string[] }> => {
  const fixture = createSessionFixture();
  const id = await createClosedSession(fixture, words);
  const { path, text } = findSessionFile(fixture.disk, id);
  const lines = text.split("\n").slice(0, -1);
  fixture.disk.seed(path, { kind: "file", text: corrupt(lines), mode: 0o600 });
  return { fixture, id, path, lines };
};

describe("a damaged session file", () => {
  it.each(rows)("is opened, reported and can be appended to: $name", async (row) => {
    const { fixture, id, path, lines } = await createDamaged(row.corrupt);
    const { sessions, disk } = fixture;
    const left = row.left ?? words;
    const damage = (row.damage ?? []).map((each) =>
      each.kind === "damaged" && each.bytes === 0 ? { ...each, bytes: lines[3]!.length } : each,
    );
    const before = findSessionFile(disk, id).text;

    const read = await sessions.read(id);
    expect({ words: listEntryTexts(read), damage: read.damage, file: findSessionFile(disk, id).text }).toEqual({
      words: left,
      damage,
      file: before,
    });
    expect(await sessions.examine(id)).toEqual(damage);

    const session = await sessions.open(id);
    expect({ words: listEntryTexts(session), damage: session.damage }).toEqual({ words: left, damage });
    await session.append([userRecord("six")]);
    await session.close();

    const again = await sessions.open(id);
    expect({ words: listEntryTexts(again), damage: again.damage }).toEqual({ words: [...left, "six"], damage: [] });
    expect(again.head).toEqual(
      damage.some(({ kind }) => kind === "no-head")
        ? { ...session.head, root: "" }
        : { ...session.head, system: "Be brief." },
    );
    expect(disk.snapshot()[`${path}.damaged-1`]).toBe(row.aside?.(lines));
    await again.close();
  });

  it("records in the log what a repair found", async () => {
    const { fixture, id } = await createDamaged((lines) => join(lines.toSpliced(3, 1)));
    await (await fixture.sessions.open(id)).close();
    const records = [];
    for await (const { record } of (await fixture.sessions.read(id)).records()) records.push(record);

    expect(records.at(-1)).toEqual({ kind: "repair", found: ["1 record after record 3 is missing."] });
  });

  it("recovers exactly the complete lines of a file truncated at any byte, and can be appended to", async () => {
    const stride = perTier({ quick: 7, all: 1 });
    const { fixture, id, path } = await createDamaged(join);
    const whole = findSessionFile(fixture.disk, id).text;
    const ends = [...whole.matchAll(/\}\n/g)].map(({ index }) => index + 1);
    for (let size = ends[0]!; size <= whole.length; size += stride) {
      fixture.disk.seed(path, { kind: "file", text: whole.slice(0, size), mode: 0o600 });
      const session = await fixture.sessions.open(id);
      const left = words.slice(0, ends.filter((end) => end <= size).length - 1);
      expect(listEntryTexts(session)).toEqual(left);
      await session.append([userRecord("more")]);
      await session.close();
      const again = await fixture.sessions.read(id);
      expect({ words: listEntryTexts(again), damage: again.damage }).toEqual({ words: [...left, "more"], damage: [] });
      fixture.disk.removeTree(`${path}.damaged-1`);
    }
  });

  it("stays repaired after a power loss", async () => {
    const { fixture, id } = await createDamaged((lines) => join(lines) + half(lines[5]));
    await fixture.sessions.open(id);
    const after = createSessionFixture({ me: "2-0", disk: fixture.disk.crash(() => 0) });

    expect((await after.sessions.read(id)).damage).toEqual([]);
  });

  it("saves the removed bytes of every repair", async () => {
    const { fixture, id, path } = await createDamaged((lines) => `${join(lines)}first`);
    await (await fixture.sessions.open(id)).close();
    fixture.disk.seed(path, { kind: "file", text: `${findSessionFile(fixture.disk, id).text}second`, mode: 0o600 });
    await (await fixture.sessions.open(id)).close();

    expect([1, 2, 3].map((number) => fixture.disk.snapshot()[`${path}.damaged-${number}`])).toEqual([
      "first",
      "second",
      undefined,
    ]);
  });

  it("uses its first head", async () => {
    const fixture = createSessionFixture();
    const id = await createClosedSession(fixture, ["one"]);
    const session = await fixture.sessions.open(id);
    const second = [{ ...session.head, system: "Obey." }] as unknown as Parameters<typeof session.append>[0];
    await session.append(second);
    await session.close();

    expect((await fixture.sessions.read(id)).head).toEqual(session.head);
  });

  it("can be read under another file name", async () => {
    const { fixture, id, path } = await createDamaged(join);
    const copy = "0123456789";
    fixture.disk.seed(path.replace(id, copy), {
      kind: "file",
      text: findSessionFile(fixture.disk, id).text,
      mode: 0o600,
    });
    const session = await fixture.sessions.open(copy);
    await session.append([userRecord("six")]);
    await session.close();

    expect(listEntryTexts(await fixture.sessions.read(copy))).toEqual([...words, "six"]);
    expect(listEntryTexts(await fixture.sessions.read(id))).toEqual(words);
  });

  it("ignores lines of another session", async () => {
    const fixture = createSessionFixture();
    const [one, other] = [
      await createClosedSession(fixture, ["mine"]),
      await createClosedSession(fixture, ["theirs", "too"]),
    ];
    const { path, text } = findSessionFile(fixture.disk, one);
    const foreign = findSessionFile(fixture.disk, other).text.split("\n")[2];
    fixture.disk.seed(path, { kind: "file", text: `${text}${foreign}\n`, mode: 0o600 });

    const session = await fixture.sessions.open(one);
    expect({ words: listEntryTexts(session), damage: session.damage.map(({ kind }) => kind) }).toEqual({
      words: ["mine"],
      damage: ["truncated-end"],
    });
    await session.close();
  });

  it("finds no record inside a tool result, even in a damaged line", async () => {
    const fixture = createSessionFixture();
    const id = await createClosedSession(fixture, ["mine"]);
    const inner = findSessionFile(fixture.disk, id).text.split("\n")[1]!.trim();
    const session = await fixture.sessions.open(id);
    await session.append([
      {
        kind: "entry",
        entry: {
          type: "completion",
          call: "hist_tool_1",
          tool: "t",
          outcome: {
            status: "complete",
            content: [{ type: "structured", value: { x: JSON.parse(inner), y: `\t${inner}` } }],
          },
        },
      },
    ]);
    await session.close();
    const { path, text } = findSessionFile(fixture.disk, id);
    fixture.disk.seed(path, { kind: "file", text: text.slice(0, -3), mode: 0o600 });

    const again = await fixture.sessions.open(id);
    expect({ words: listEntryTexts(again), damage: again.damage.map(({ kind }) => kind) }).toEqual({
      words: ["mine"],
      damage: ["truncated-end"],
    });
    await again.close();
  });

  it("keeps and skips records and entries of a later version", async () => {
    const fixture = createSessionFixture();
    const id = await createClosedSession(fixture, ["one"]);
    const session = await fixture.sessions.open(id);
    const later = [
      { kind: "weather", rain: true },
      { kind: "entry", entry: { type: "dance", steps: 3 } },
    ] as unknown as Parameters<typeof session.append>[0];
    await session.append([...later, userRecord("two")]);
    await session.close();
    const { path, text } = findSessionFile(fixture.disk, id);
    const lines = text.split("\n").slice(0, -1);
    fixture.disk.seed(path, {
      kind: "file",
      text: join([...lines.slice(0, -1), lines.at(-1)! + lines.at(-1)!]),
      mode: 0o600,
    });

    const again = await fixture.sessions.open(id);
    expect(listEntryTexts(again)).toEqual(["one", "()", "two"]);
    await again.close();
    expect(findSessionFile(fixture.disk, id).text).toContain('"record":{"kind":"weather","rain":true}');
    expect(findSessionFile(fixture.disk, id).text).toContain(
      '"record":{"kind":"entry","index":1,"entry":{"type":"dance","steps":3}}',
    );
  });

  it("of a newer format is refused and not changed", async () => {
    const fixture = createSessionFixture();
    const id = await createClosedSession(fixture, ["one"]);
    const { path, text } = findSessionFile(fixture.disk, id);
    const [head = "", ...rest] = text.split("\n");
    const [, sequence = "", at = "", record = ""] =
      /"sequence":(\d+),"at":(\d+),.*?"record":(.*)\}$/.exec(head.replace('"version":1', '"version":2')) ?? [];
    const whole = encodeLine({ session: id, sequence: Number(sequence), at: Number(at), text: record });
    const newer = whole + rest.join("\n");
    fixture.disk.seed(path, { kind: "file", text: newer, mode: 0o600 });
    const failure = { kind: "too-new", id, version: 2 };

    const { open, read, repair } = fixture.sessions;
    for (const attempt of [open, read, repair]) await expect(attempt(id)).rejects.toMatchObject({ failure });
    expect(findSessionFile(fixture.disk, id).text).toBe(newer);
    expect(new SessionError({ kind: "too-new", id: "abc", version: 2 }).message).toBe(
      "Session abc was written by a newer Parley (format 2). Update parley-agent to open it; the file is untouched.",
    );
  });

  it("is opened if only damage changed the version in its head", async () => {
    const fixture = createSessionFixture();
    const id = await createClosedSession(fixture, ["one", "two"]);
    const { path, text } = findSessionFile(fixture.disk, id);
    fixture.disk.seed(path, { kind: "file", text: text.replace('"version":1', '"version":9'), mode: 0o600 });
    const session = await fixture.sessions.open(id);
    expect(listEntryTexts(session)).toEqual(["one", "two"]);
    await session.close();
  });

  it("shows the known parts of an entry of a later version, and a call without input", async () => {
    const known = { type: "text", text: "known" };
    const record = (parts: readonly unknown[]): string =>
      JSON.stringify({
        kind: "entry",
        index: 0,
        entry: { type: "model", origin: { provider: "p", model: "m" }, parts },
      });
    expect(parseRecord(record([known, { type: "hologram", data: 1 }]))).toMatchObject({
      kind: "entry",
      entry: {
        parts: [
          known,
          { type: "text", text: '[A part of the kind "hologram", which this version of Parley does not know.]' },
        ],
      },
    });
    expect(parseRecord(record([{ type: "call", id: "hist_tool_1", tool: "look" }]))).toMatchObject({
      kind: "entry",
      entry: { parts: [{ type: "call", tool: "look", input: { type: "malformed", text: "" } }] },
    });
    expect(parseRecord(record([{ type: "hologram" }]))).toEqual({ kind: "unknown", originalKind: "entry" });
  });

  it("without a readable record is emptied only by repair", async () => {
    const { fixture, id, path } = await createDamaged(() => "no session at all");
    await expect(fixture.sessions.open(id)).rejects.toMatchObject({ failure: { kind: "unreadable", id, path } });
    expect(findSessionFile(fixture.disk, id).text).toBe("no session at all");

    expect(await fixture.sessions.repair(id)).toEqual([{ kind: "no-head" }, { kind: "truncated-end", bytes: 17 }]);
    expect(fixture.disk.snapshot()[`${path}.damaged-1`]).toBe("no session at all");
    expect((await fixture.sessions.read(id)).entries).toEqual([]);
  });
});
