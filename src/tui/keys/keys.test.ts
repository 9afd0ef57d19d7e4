import { describe, expect, it } from "vitest";
import { simulatedWorld } from "../../world/simulated/world.ts";
import type { KeyEvent } from "./key-event.ts";
import { createKeyListener } from "./key-listener.ts";
import { KeyReader } from "./key-reader.ts";
import { fc } from "../../../test/support/fast-check.ts";

const key = (chord: string): KeyEvent => ({ type: "key", chord });
const text = (typed: string): KeyEvent => ({ type: "text", text: typed });
const other: KeyEvent = { type: "reply", reply: { type: "other" } };
const bytesOf = (sent: string): Uint8Array => new TextEncoder().encode(sent);

/** Input bytes and their meaning. */
const rows: readonly (readonly [what: string, sent: string, events: readonly KeyEvent[]])[] = [
  ["letters", "hé日😀", [text("hé日😀")]],
  ["Enter, Tab and Backspace", "\r\t\u007f", [key("enter"), key("tab"), key("backspace")]],
  ["letters around Enter", "a\rb", [text("a"), key("enter"), text("b")]],
  [
    "control letters",
    "\u0001\u000a\u0003\u001a\u0000\u001f\u001c",
    ["ctrl+a", "ctrl+j", "ctrl+c", "ctrl+z", "ctrl+space", "ctrl+_", "ctrl+\\"].map(key),
  ],
  ["arrows", "\u001b[A\u001b[B\u001bOC\u001bOD", ["up", "down", "right", "left"].map(key)],
  [
    "arrows with others held",
    "\u001b[1;2A\u001b[1;5C\u001b[1;3D\u001b[1;8B",
    ["shift+up", "ctrl+right", "alt+left", "ctrl+alt+shift+down"].map(key),
  ],
  [
    "Home and End in all their ways",
    "\u001b[H\u001b[1~\u001b[7~\u001bOH\u001b[F\u001b[4~\u001b[8~\u001bOF",
    ["home", "home", "home", "home", "end", "end", "end", "end"].map(key),
  ],
  [
    "keys with numbers",
    "\u001b[2~\u001b[3~\u001b[5~\u001b[6~\u001b[3;5~",
    ["insert", "delete", "pageup", "pagedown", "ctrl+delete"].map(key),
  ],
  [
    "function keys",
    "\u001bOP\u001b[11~\u001b[[A\u001b[15~\u001b[24~\u001b[1;2R",
    ["f1", "f1", "f1", "f5", "f12", "shift+f3"].map(key),
  ],
  ["Shift-Tab", "\u001b[Z", [key("shift+tab")]],
  [
    "Alt with letters",
    "\u001bb\u001bB\u001b\r\u001b\u007f\u001b\u0002",
    ["alt+b", "alt+shift+b", "alt+enter", "alt+backspace", "ctrl+alt+b"].map(key),
  ],
  ["Alt with letters beyond ASCII", "\u001bé\u001b ", ["alt+é", "alt+space"].map(key)],
  ["Alt with arrows, as an escape before", "\u001b\u001b[A\u001b\u001bOB", ["alt+up", "alt+down"].map(key)],
  [
    "kitty: Enter with others held",
    "\u001b[13;2u\u001b[13;5u\u001b[13u\u001b[57414u",
    ["shift+enter", "ctrl+enter", "enter", "enter"].map(key),
  ],
  [
    "kitty: Escape, Tab and Backspace",
    "\u001b[27u\u001b[9;2u\u001b[127;5u",
    ["escape", "shift+tab", "ctrl+backspace"].map(key),
  ],
  [
    "kitty: letters with others held",
    "\u001b[97;5u\u001b[97;6u\u001b[233;3u\u001b[32;5u",
    ["ctrl+a", "ctrl+shift+a", "alt+é", "ctrl+space"].map(key),
  ],
  [
    "kitty: letters",
    "\u001b[97u\u001b[97;2u\u001b[97:65;2;65u\u001b[57399u\u001b[57413u",
    ["a", "A", "A", "0", "+"].map(text),
  ],
  ["kitty: a lock is not held", "\u001b[97;65u\u001b[97;69u", [text("a"), key("ctrl+a")]],
  ["kitty: letting go, and keys of the system", "\u001b[97;1:3u\u001b[1;1:3A\u001b[97;9u\u001b[57358u", []],
  ["kitty: a key held down", "\u001b[1;1:2A", [key("up")]],
  ["xterm: letters with others held", "\u001b[27;2;13~\u001b[27;5;97~", ["shift+enter", "ctrl+a"].map(key)],
  [
    "a paste",
    "\u001b[200~one\r\ntwo\rthree\tfour\u001b[201~x",
    [{ type: "paste", text: "one\ntwo\nthree\tfour" }, text("x")],
  ],
  ["a paste of escapes", "\u001b[200~a\u001b[Ab\u001b\u001b[201~", [{ type: "paste", text: "a\u001b[Ab\u001b" }]],
  ["an empty paste", "\u001b[200~\u001b[201~", [{ type: "paste", text: "" }]],
  [
    "focus",
    "\u001b[I\u001b[O",
    [
      { type: "focus", isFocused: true },
      { type: "focus", isFocused: false },
    ],
  ],
  ["the mouse", "\u001b[<0;10;20M\u001b[<0;10;20m\u001b[M !!x", [text("x")]],
  [
    "what the terminal is",
    "\u001b[?62;4;22c",
    [{ type: "reply", reply: { type: "attributes", attributes: [62, 4, 22] } }],
  ],
  [
    "how large a letter is",
    "\u001b[6;17;8t\u001b[6;0;8t",
    [
      { type: "reply", reply: { type: "cell-size", width: 8, height: 17 } },
      { type: "reply", reply: { type: "other" } },
    ],
  ],
  [
    "the colour of the ground",
    "\u001b]11;rgb:ffff/8080/0000\u001b\\\u001b]11;rgb:1/2/f\u0007",
    [0xff8000, 0x1122ff].map((rgb): KeyEvent => ({ type: "reply", reply: { type: "background", rgb } })),
  ],
  [
    "about pictures",
    "\u001b_Gi=31;OK\u001b\\\u001b_Gi=31;ENOTSUPPORTED:x\u001b\\",
    [true, false].map((isSupported): KeyEvent => ({ type: "reply", reply: { type: "kitty-images", isSupported } })),
  ],
  [
    "other answers",
    "\u001b[?2026;1$y\u001b[?1u\u001b[>0;276;0c\u001b[12;40R\u001bP>|kitty(0.40)\u001b\\\u001b]52;c;ZXZpbA==\u0007\u001b[8;24;80t\u001b[0n",
    Array.from({ length: 8 }, () => other),
  ],
  ["unknown sequences", "\u001b[99~\u001b[1;2y\u001bOz\u001b[38;5;1mx", [text("x")]],
  ["controls of eight bits", "a\u009b\u0085b", [text("a"), text("b")]],
];

describe("keys", () => {
  it.each(rows)("%s", (_, sent, events) => {
    expect(joined(new KeyReader().read(bytesOf(sent)))).toEqual(events);
  });

  it.each(rows)("are parsed the same split at every byte: %s", (_, sent, events) => {
    const reader = new KeyReader();
    expect(joined(Array.from(bytesOf(sent), (byte) => reader.read(Uint8Array.of(byte))).flat())).toEqual(events);
    expect(reader.hasPending).toBe(false);
  });

  it("are parsed the same in random pieces, and control sequences are never typed", () => {
    const piece = fc.constantFrom(...rows.map(([, sent]) => sent).filter((sent) => !sent.includes("200~")));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 5 }), fc.array(fc.nat(200)), (sent, cuts) => {
        const bytes = bytesOf(sent.join(""));
        const reader = new KeyReader();
        const places = [...cuts.filter((at) => at < bytes.length).toSorted((one, two) => one - two), bytes.length];
        const events = places.flatMap((at, index) => reader.read(bytes.subarray(places[index - 1] ?? 0, at)));
        expect(joined(events)).toEqual(joined(new KeyReader().read(bytes)));
        expect(events.filter((event) => event.type === "text" && /\p{Cc}/u.test(event.text))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it("inside a paste with a fake end mark stay in the paste", () => {
    const sent = "\u001b[200~safe\u001b[201~\rrm -rf x\r\u001b[200~\u001b[201~";
    expect(new KeyReader().read(bytesOf(sent))).toEqual([{ type: "paste", text: "safe\nrm -rf x\n" }]);
  });

  it("of a ten-megabyte paste in small pieces are one paste", () => {
    const reader = new KeyReader();
    const events: KeyEvent[] = [...reader.read(bytesOf("\u001b[200~"))];
    const piece = bytesOf("0123456789".repeat(400));
    for (let count = 0; count < 2500; count++) events.push(...reader.read(piece));
    events.push(...reader.read(bytesOf("\u001b[201~")));
    expect(events.map((event) => (event.type === "paste" ? event.text.length : event))).toEqual([10_000_000]);
  });

  it("of a sequence that never ends are dropped eventually", () => {
    const reader = new KeyReader();
    expect(reader.read(bytesOf(`\u001b]52;c;${"A".repeat(5000)}`)).length).toBeLessThan(3);
    reader.flush();
    expect(reader.read(bytesOf("x"))).toEqual([text("x")]);
  });
});

describe("a lone Esc", () => {
  const heardOf = async (chunks: readonly (string | number)[]): Promise<readonly KeyEvent[]> => {
    const world = simulatedWorld();
    const heard: KeyEvent[] = [];
    const listen = createKeyListener(world.clock, (event) => heard.push(event));
    await world.run(
      (async () => {
        for (const chunk of chunks)
          if (typeof chunk === "number") await world.clock.sleep(chunk);
          else listen(bytesOf(chunk));
      })(),
    );
    return heard;
  };

  it.each<readonly [string, readonly (string | number)[], readonly KeyEvent[]]>([
    ["is Esc after a moment", ["\u001b", 100], [key("escape")]],
    ["is not Esc before it", ["\u001b", 10], []],
    ["is the beginning of what follows at once", ["\u001b", 10, "[A", 100], [key("up")]],
    ["waits anew with every piece", ["\u001b", 30, "[", 30, "A", 100], [key("up")]],
    ["is Esc when what follows comes late", ["\u001b", 100, "[A", 100], [key("escape"), text("[A")]],
    ["with a bracket is Alt and the bracket", ["\u001b[", 100], [key("alt+[")]],
    ["twice is Alt and Esc", ["\u001b\u001b", 100], [key("alt+escape")]],
    ["within a paste waits as long as it takes", ["\u001b[200~a\u001b", 100, "[201~"], [{ type: "paste", text: "a" }]],
  ])("%s", async (_, chunks, events) => {
    expect(await heardOf(chunks)).toEqual(events);
  });
});

/** Joins text that arrived in pieces. */
const joined = (events: readonly KeyEvent[]): readonly KeyEvent[] => {
  const together: KeyEvent[] = [];
  for (const event of events) {
    const last = together.at(-1);
    if (event.type === "text" && last?.type === "text" && !isApart(last.text))
      together[together.length - 1] = text(last.text + event.text);
    else together.push(event);
  }
  return together;
};

const isApart = (typed: string): boolean => ["a", "A", "0", "+"].includes(typed);
