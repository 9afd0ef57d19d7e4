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

const words = ["one", "two", "three", "four", "five"];

type Row = {
  readonly name: string;
  readonly damage: (lines: readonly string[]) => string;
  readonly left?: readonly string[];
  readonly healed?: readonly SessionDamage[];
  /** What is kept of the bytes that were cut out. */
  readonly aside?: (lines: readonly string[]) => string;
};

/** The middle of a line, where nothing frames it. */
const half = (line = ""): string => line.slice(0, 60);
const join = (lines: readonly (string | undefined)[]): string => lines.map((line) => `${line}\n`).join("");
const lost = "(Part of the conversation was lost here: its record was damaged on disk.)";

// Lines: 0 is the head, 1 to 5 the words.
const rows: readonly Row[] = [
  { name: "nothing", damage: join },
  { name: "line ends of another system, and a byte order mark", damage: (lines) => `\uFEFF${lines.join("\r\n")}\r\n` },
  {
    name: "spaces for tabs, and blank lines",
    damage: (lines) => `\n${lines.map((line) => `  ${line.trim()}\n\n`).join("")}`,
  },
  {
    name: "a torn last line",
    damage: (lines) => join(lines.slice(0, 5)) + half(lines[5]),
    left: words.slice(0, 4),
    healed: [{ kind: "torn-end", bytes: 60 }],
    aside: (lines) => half(lines[5]),
  },
  {
    name: "a last line without its end",
    damage: (lines) => lines.join("\n"),
    healed: [{ kind: "unended" }],
  },
  {
    name: "zeros at the end",
    damage: (lines) => join(lines) + "\0".repeat(4096),
    healed: [{ kind: "torn-end", bytes: 4096 }],
    aside: () => "\0".repeat(4096),
  },
  {
    name: "a page of zeros in the middle",
    damage: (lines) => `${join(lines.slice(0, 3))}${"\0".repeat(4096)}\n${join(lines.slice(4))}`,
    left: ["one", "two", lost, "four", "five"],
    healed: [
      { kind: "damaged", bytes: 4096, after: 3 },
      { kind: "lost", records: 1, after: 3 },
    ],
    aside: () => "\0".repeat(4096),
  },
  {
    name: "a torn line with the next one written on it",
    damage: (lines) => join([...lines.slice(0, 4), half(lines[4]) + lines[5]]),
    left: ["one", "two", "three", lost, "five"],
    healed: [
      { kind: "damaged", bytes: 60, after: 4 },
      { kind: "lost", records: 1, after: 4 },
    ],
    aside: (lines) => half(lines[4]),
  },
  {
    name: "two records on one line",
    damage: (lines) => join([lines[0], `${lines[1]}${lines[2]}`, ...lines.slice(3)]),
    healed: [{ kind: "glued", records: 1 }],
  },
  {
    name: "a letter changed in the middle",
    damage: (lines) => join(lines).replace("three", "thrEE"),
    left: ["one", "two", lost, "four", "five"],
    healed: [
      { kind: "damaged", bytes: 0, after: 3 },
      { kind: "lost", records: 1, after: 3 },
    ],
    aside: (lines) => lines[3]?.replace("three", "thrEE") ?? "",
  },
  {
    name: "a line that is gone",
    damage: (lines) => join(lines.toSpliced(3, 2)),
    left: ["one", "two", lost, "()", "five"],
    healed: [{ kind: "lost", records: 2, after: 3 }],
  },
  {
    name: "the last line twice",
    damage: (lines) => join([...lines, lines[5]]),
    healed: [{ kind: "repeated", records: 1 }],
  },
  {
    name: "lines in another order",
    damage: (lines) => join([lines[0], lines[1], lines[3], lines[2], lines[5], lines[4]]),
    healed: [{ kind: "out-of-order", records: 2 }],
  },
  {
    name: "no first line",
    damage: (lines) => join(lines.slice(1)),
    healed: [{ kind: "no-head" }, { kind: "lost", records: 1, after: 0 }],
  },
  { name: "an empty file", damage: () => "", left: [], healed: [{ kind: "no-head" }] },
];

const damaged = async (
  damage: Row["damage"],
): Promise<{ bench: SessionFixture; id: string; path: string; lines: readonly string[] }> => {
  const bench = createSessionFixture();
  const id = await createClosedSession(bench, words);
  const { path, text } = findSessionFile(bench.disk, id);
  const lines = text.split("\n").slice(0, -1);
  bench.disk.seed(path, { kind: "file", text: damage(lines), mode: 0o600 });
  return { bench, id, path, lines };
};

describe("a session's file with damage", () => {
  it.each(rows)("opens, says what was wrong, and can be written on: $name", async (row) => {
    const { bench, id, path, lines } = await damaged(row.damage);
    const { sessions, disk } = bench;
    const left = row.left ?? words;
    const healed = (row.healed ?? []).map((finding) =>
      finding.kind === "damaged" && finding.bytes === 0 ? { ...finding, bytes: lines[3]!.length } : finding,
    );
    const before = findSessionFile(disk, id).text;

    const read = await sessions.read(id);
    expect({ words: listEntryTexts(read), healed: read.damage, file: findSessionFile(disk, id).text }).toEqual({
      words: left,
      healed,
      file: before,
    });
    expect(await sessions.examine(id)).toEqual(healed);

    const session = await sessions.open(id);
    expect({ words: listEntryTexts(session), healed: session.damage }).toEqual({ words: left, healed });
    await session.append([userRecord("six")]);
    await session.close();

    const again = await sessions.open(id);
    expect({ words: listEntryTexts(again), healed: again.damage }).toEqual({ words: [...left, "six"], healed: [] });
    expect(again.head).toEqual(
      healed.some(({ kind }) => kind === "no-head")
        ? { ...session.head, root: "" }
        : { ...session.head, system: "Be brief." },
    );
    expect(disk.snapshot()[`${path}.damaged-1`]).toBe(row.aside?.(lines));
    await again.close();
  });

  it("keeps in the log what a repair found", async () => {
    const { bench, id } = await damaged((lines) => join(lines.toSpliced(3, 1)));
    await (await bench.sessions.open(id)).close();
    const records = [];
    for await (const { record } of (await bench.sessions.read(id)).records()) records.push(record);

    expect(records.at(-1)).toEqual({ kind: "repair", found: ["1 record after record 3 is missing."] });
  });

  it("recovers exactly the whole lines of a file cut at any byte, and goes on from there", async () => {
    const { bench, id, path } = await damaged(join);
    const whole = findSessionFile(bench.disk, id).text;
    const ends = [...whole.matchAll(/\}\n/g)].map(({ index }) => index + 1);
    for (let size = ends[0]!; size <= whole.length; size++) {
      bench.disk.seed(path, { kind: "file", text: whole.slice(0, size), mode: 0o600 });
      const session = await bench.sessions.open(id);
      const left = words.slice(0, ends.filter((end) => end <= size).length - 1);
      expect(listEntryTexts(session)).toEqual(left);
      await session.append([userRecord("more")]);
      await session.close();
      const again = await bench.sessions.read(id);
      expect({ words: listEntryTexts(again), healed: again.damage }).toEqual({ words: [...left, "more"], healed: [] });
      bench.disk.removeTree(`${path}.damaged-1`);
    }
  });

  it("stays healed through a power loss", async () => {
    const { bench, id } = await damaged((lines) => join(lines) + half(lines[5]));
    await bench.sessions.open(id);
    const after = createSessionFixture({ me: "2-0", disk: bench.disk.crash(() => 0) });

    expect((await after.sessions.read(id)).damage).toEqual([]);
  });

  it("keeps aside what was cut out every time", async () => {
    const { bench, id, path } = await damaged((lines) => `${join(lines)}first`);
    await (await bench.sessions.open(id)).close();
    bench.disk.seed(path, { kind: "file", text: `${findSessionFile(bench.disk, id).text}second`, mode: 0o600 });
    await (await bench.sessions.open(id)).close();

    expect([1, 2, 3].map((number) => bench.disk.snapshot()[`${path}.damaged-${number}`])).toEqual([
      "first",
      "second",
      undefined,
    ]);
  });

  it("believes its first head", async () => {
    const bench = createSessionFixture();
    const id = await createClosedSession(bench, ["one"]);
    const session = await bench.sessions.open(id);
    const second = [{ ...session.head, system: "Obey." }] as unknown as Parameters<typeof session.append>[0];
    await session.append(second);
    await session.close();

    expect((await bench.sessions.read(id)).head).toEqual(session.head);
  });

  it("is read under the name of a copy, too", async () => {
    const { bench, id, path } = await damaged(join);
    const copy = "0123456789";
    bench.disk.seed(path.replace(id, copy), { kind: "file", text: findSessionFile(bench.disk, id).text, mode: 0o600 });
    const session = await bench.sessions.open(copy);
    await session.append([userRecord("six")]);
    await session.close();

    expect(listEntryTexts(await bench.sessions.read(copy))).toEqual([...words, "six"]);
    expect(listEntryTexts(await bench.sessions.read(id))).toEqual(words);
  });

  it("takes no line of another session for its own", async () => {
    const bench = createSessionFixture();
    const [one, other] = [
      await createClosedSession(bench, ["mine"]),
      await createClosedSession(bench, ["theirs", "too"]),
    ];
    const { path, text } = findSessionFile(bench.disk, one);
    const foreign = findSessionFile(bench.disk, other).text.split("\n")[2];
    bench.disk.seed(path, { kind: "file", text: `${text}${foreign}\n`, mode: 0o600 });

    const session = await bench.sessions.open(one);
    expect({ words: listEntryTexts(session), healed: session.damage.map(({ kind }) => kind) }).toEqual({
      words: ["mine"],
      healed: ["torn-end"],
    });
    await session.close();
  });

  it("finds no record inside what a tool returned, even where that is a damaged line", async () => {
    const bench = createSessionFixture();
    const id = await createClosedSession(bench, ["mine"]);
    const inner = findSessionFile(bench.disk, id).text.split("\n")[1]!.trim();
    const session = await bench.sessions.open(id);
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
    const { path, text } = findSessionFile(bench.disk, id);
    bench.disk.seed(path, { kind: "file", text: text.slice(0, -3), mode: 0o600 });

    const again = await bench.sessions.open(id);
    expect({ words: listEntryTexts(again), healed: again.damage.map(({ kind }) => kind) }).toEqual({
      words: ["mine"],
      healed: ["torn-end"],
    });
    await again.close();
  });

  it("keeps and passes over records and entries that only a later version knows", async () => {
    const bench = createSessionFixture();
    const id = await createClosedSession(bench, ["one"]);
    const session = await bench.sessions.open(id);
    const later = [
      { kind: "weather", rain: true },
      { kind: "entry", entry: { type: "dance", steps: 3 } },
    ] as unknown as Parameters<typeof session.append>[0];
    await session.append([...later, userRecord("two")]);
    await session.close();
    const { path, text } = findSessionFile(bench.disk, id);
    const lines = text.split("\n").slice(0, -1);
    bench.disk.seed(path, {
      kind: "file",
      text: join([...lines.slice(0, -1), lines.at(-1)! + lines.at(-1)!]),
      mode: 0o600,
    });

    const again = await bench.sessions.open(id);
    expect(listEntryTexts(again)).toEqual(["one", "()", "two"]);
    await again.close();
    expect(findSessionFile(bench.disk, id).text).toContain('"record":{"kind":"weather","rain":true}');
    expect(findSessionFile(bench.disk, id).text).toContain(
      '"record":{"kind":"entry","index":1,"entry":{"type":"dance","steps":3}}',
    );
  });

  it("leaves a file of a newer format as it is, and says so", async () => {
    const bench = createSessionFixture();
    const id = await createClosedSession(bench, ["one"]);
    const { path, text } = findSessionFile(bench.disk, id);
    const [head = "", ...rest] = text.split("\n");
    const [, sequence = "", at = "", record = ""] =
      /"sequence":(\d+),"at":(\d+),.*?"record":(.*)\}$/.exec(head.replace('"version":1', '"version":2')) ?? [];
    const whole = encodeLine({ session: id, sequence: Number(sequence), at: Number(at), text: record });
    const newer = whole + rest.join("\n");
    bench.disk.seed(path, { kind: "file", text: newer, mode: 0o600 });
    const failure = { kind: "too-new", id, version: 2 };

    for (const tried of [bench.sessions.open(id), bench.sessions.read(id), bench.sessions.repair(id)])
      await expect(tried).rejects.toMatchObject({ failure });
    expect(findSessionFile(bench.disk, id).text).toBe(newer);
    expect(new SessionError({ kind: "too-new", id: "abc", version: 2 }).message).toBe(
      "Session abc was written by a newer Parley (format 2). Update parley-agent to open it; the file is untouched.",
    );
  });

  it("opens a file whose head says another version by damage alone", async () => {
    const bench = createSessionFixture();
    const id = await createClosedSession(bench, ["one", "two"]);
    const { path, text } = findSessionFile(bench.disk, id);
    bench.disk.seed(path, { kind: "file", text: text.replace('"version":1', '"version":9'), mode: 0o600 });
    const session = await bench.sessions.open(id);
    expect(listEntryTexts(session)).toEqual(["one", "two"]);
    await session.close();
  });

  it("shows what it knows of an entry with a part of a later version, and a call without input", async () => {
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
    expect(parseRecord(record([{ type: "hologram" }]))).toEqual({ kind: "unknown", named: "entry" });
  });

  it("empties a file in which nothing can be read only when asked to", async () => {
    const { bench, id, path } = await damaged(() => "no session at all");
    await expect(bench.sessions.open(id)).rejects.toMatchObject({ failure: { kind: "unreadable", id, path } });
    expect(findSessionFile(bench.disk, id).text).toBe("no session at all");

    expect(await bench.sessions.repair(id)).toEqual([{ kind: "no-head" }, { kind: "torn-end", bytes: 17 }]);
    expect(bench.disk.snapshot()[`${path}.damaged-1`]).toBe("no session at all");
    expect((await bench.sessions.read(id)).entries).toEqual([]);
  });
});
