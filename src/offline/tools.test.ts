import { deflateSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sendConversation } from "../../test/support/exchange.ts";
import { openWorkbench, type Workbench } from "../../test/support/workbench.ts";
import { failed, text } from "../conversation/builders.ts";
import type { Conversation } from "../conversation/entry.ts";
import type { JsonObject } from "../conversation/json.ts";
import { Ledger } from "../conversation/ledger.ts";
import type { Call, Content, Outcome } from "../conversation/parts.ts";
import { findProvider } from "../providers/find.ts";
import { lint } from "../rules/lint.ts";
import { builtinTools } from "../tools/builtins.ts";
import { declareTool } from "../tools/declare.ts";
import { storeFile } from "../tools/result/store-file.ts";
import { createRequestSigner } from "../transport/credentials/request-signer.ts";
import { openTransport } from "../transport/transport.ts";
import { realWorld } from "../world/real/world.ts";
import type { World } from "../world/world.ts";
import { withDemoModel } from "./net.ts";

/*
 * Whole conversations: the real tools on a real folder, requests as Parley
 * writes them, sent by its transport.
 */

const page = "<html><title>Clocks</title><body><p>All about clocks.</p></body></html>";
let bench: Workbench;

beforeAll(async () => {
  bench = await openWorkbench({
    web: {
      fetch: (url) => Promise.resolve({ url, status: 200, type: "text/html", bytes: Buffer.from(page), cut: false }),
    },
  });
  bench.put("README.md", "# Clock\n\nTells the time.\n\n## Use\n\nLook at it.\n");
  bench.put(
    "package.json",
    '{"name":"clock","version":"1.2.3","description":"A clock","scripts":{"test":"node --test"}}\n',
  );
  bench.put("src/clock.ts", "/** Tells the time. */\nexport const hour = 12; // TODO minutes\n");
  bench.put("src/face.ts", "export type Face = string;\n");
  bench.put("long.log", Array.from({ length: 2500 }, (_, index) => `entry ${index + 1}`).join("\n"));
  bench.put("secret.key", "no");
  bench.put(".parleyignore", "secret.key\n");
});
afterAll(() => bench.close());

/** Runs a conversation in which every call is really made. */
const talk = (decide: (call: Call) => Outcome | undefined = () => undefined) => {
  const provider = findProvider("offline");
  const bodies: JsonObject[] = [];
  const real = realWorld({});
  const net = withDemoModel(real.net);
  const world: World = {
    ...real,
    net: {
      send: (request, signal) => {
        bodies.push(JSON.parse(String(request.body)) as JsonObject);
        return net.send(request, signal);
      },
    },
  };
  const transport = openTransport({ world, signer: createRequestSigner(world) });
  const ledger = new Ledger();
  const blobs: Record<string, string> = {};
  const ask = async (words: string): Promise<{ readonly said: string; readonly calls: readonly string[] }> => {
    ledger.user([text(words)]);
    const calls: string[] = [];
    for (;;) {
      const tools = await Promise.all(builtinTools.map(declareTool));
      const conversation: Conversation = { version: 1, system: "Help.", tools, entries: ledger.entries, blobs };
      const { response: answer, sent, failure } = await sendConversation(transport, provider, conversation);
      if (answer === undefined || sent === undefined) throw new Error(JSON.stringify(failure));
      const made = ledger.model(sent.origin, answer.parts, sent.prefix);
      for (const call of made) {
        calls.push(call.tool);
        ledger.complete(call.id, call.tool, decide(call) ?? (await carryOut(call, blobs)));
      }
      if (made.length === 0) {
        const said = answer.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
        return { said: said.replaceAll(bench.root, "{WS}"), calls };
      }
    }
  };
  return { ask, bodies };
};

const carryOut = async (call: Call, blobs: Record<string, string>): Promise<Outcome> => {
  const tool = builtinTools.find(({ name }) => name === call.tool)!;
  try {
    const { content } = await bench.call(tool, call.input.type === "parsed" ? (call.input.value as JsonObject) : {});
    return {
      status: "complete",
      content: content.map((part): Content => {
        if (part.type !== "file") return part;
        const { media, blob } = storeFile(part);
        if (blob !== undefined) blobs[blob.hash] = blob.base64;
        return media;
      }),
    };
  } catch (error) {
    return failed((error as Error).message);
  }
};

describe("the demo model with real tools", () => {
  it.each<[string, readonly string[], string | RegExp]>([
    [
      "list the files",
      ["list_directory"],
      /^The folder holds 1 folder: src; and \d files: .*README\.md \(\d+ bytes\).*\(1 ignored\)$/,
    ],
    ["read src/face.ts", ["read_file"], "src/face.ts has 1 line:\n\n```\nexport type Face = string;\n```"],
    [
      "show me the first 2 lines of README.md",
      ["read_file"],
      "Here are the first 2 lines of README.md:\n\n```\n# Clock\n```",
    ],
    [
      "show the last 2 lines of long.log",
      ["read_file"],
      "Here are the last 2 lines of long.log:\n\n```\nentry 2499\nentry 2500\n```",
    ],
    ["how many lines does long.log have?", ["read_file"], "long.log has 2,500 lines."],
    ["how many words are in README.md?", ["read_file"], "README.md has 10 words."],
    ["how big is src/face.ts?", ["list_directory"], "src/face.ts has 27 bytes."],
    [
      "explain src/clock.ts",
      ["read_file"],
      'src/clock.ts: It has 2 lines. It begins with the comment "Tells the time." It declares hour.',
    ],
    [
      "find all ts files in src",
      ["glob"],
      /^I found 2 files for \*\*\/\*\.ts in src:\n- (clock|face)\.ts\n- (clock|face)\.ts$/,
    ],
    ["how many json files are there?", ["glob"], "There is 1 file that matches **/*.json."],
    ["find *.rs", ["glob"], "There is no file that matches **/*.rs."],
    [
      "search for todo",
      ["search_file_content"],
      '"todo" is on 1 line in 1 file:\n- src/clock.ts:2: export const hour = 12; // TODO minutes',
    ],
    ["search for unicorns in src", ["search_file_content"], 'Nothing matches "unicorns" in src.'],
    [
      "run echo one && echo two",
      ["run_shell_command"],
      "`echo one && echo two` succeeded (exit code 0) and printed:\n\n```\none\ntwo\n```",
    ],
    ["run `exit 3`", ["run_shell_command"], "`exit 3` failed with exit code 3 and printed nothing."],
    ["run `true`", ["run_shell_command"], "`true` succeeded (exit code 0) and printed nothing."],
    [
      "read nowhere.txt",
      ["read_file"],
      /^I could not read nowhere\.txt: There is no file .*The file or folder does not exist/,
    ],
    [
      "read secret.key",
      ["read_file"],
      /^I could not read secret\.key: .*excluded from models by .*An ignore file excludes it\.$/,
    ],
    ["remember that I like tea", ["save_memory"], 'Okay, I\'ve remembered that: "I like tea".'],
    [
      "search the web for clocks",
      ["google_web_search"],
      /^I could not search the web for clocks: Web search runs on Google's models/,
    ],
    ["read all ts files", ["read_many_files"], /^I read 2 files:\n- .*clock\.ts: 2 lines\. It has 2 lines\./],
    [
      "replace midnight with noon in README.md",
      ["replace"],
      /^I could not change README\.md: Failed to edit README\.md: 0 occurrences found/,
    ],
    [
      "what is this project about?",
      ["list_directory", "read_file", "read_file"],
      /^The folder holds [\s\S]*README\.md: Its title is "Clock"\. It begins: "Tells the time\." Its sections are Use\.\n\npackage\.json: The package is clock 1\.2\.3\. A clock\. Its scripts are test\.$/,
    ],
    [
      "list the folder and then run echo hi",
      ["list_directory", "run_shell_command"],
      /^The folder holds [\s\S]*`echo hi` succeeded/,
    ],
    [
      "read README.md and src/face.ts",
      ["read_file", "read_file"],
      /^README\.md has 7 lines:[\s\S]*src\/face\.ts has 1 line:/,
    ],
  ])("answers from their results: %s", async (words, calls, said) => {
    const { ask } = talk();
    const went = await ask(words);
    expect(went.calls).toEqual(calls);
    if (typeof said === "string") expect(went.said).toBe(said);
    else expect(went.said).toMatch(said);
  });

  it("writes, changes, appends to and removes files", async () => {
    const { ask } = talk();
    expect((await ask('create notes/a.txt with "one two"')).said).toBe("I created notes/a.txt with 1 line (7 bytes).");
    expect((await ask("replace two with 2 in it")).said).toBe('I replaced "two" with "2" in notes/a.txt, in 1 place.');
    expect(await ask('append "three" to notes/a.txt')).toEqual({
      said: "I added 1 line to the end of notes/a.txt.",
      calls: ["read_file", "write_file"],
    });
    expect(bench.text("notes/a.txt")).toBe("one 2\nthree\n");
    expect((await ask('write "new" to notes/a.txt')).said).toBe("I overwrote notes/a.txt with 1 line (3 bytes).");
    expect((await ask("delete notes/a.txt, then list notes")).said).toContain("The folder notes is empty.");
  });

  it("fetches pages", async () => {
    const { ask } = talk();
    expect((await ask("fetch https://clocks.test/")).said).toContain("All about clocks.");
  });

  it("reports refused, cancelled and interrupted calls", async () => {
    const outcomes: readonly Outcome[] = [
      {
        status: "cancelled",
        content: [text("The user refused this call. Do not repeat it; go on another way, or ask.")],
      },
      { status: "cancelled", content: [text("The user cancelled this call before it ran.")] },
      { status: "interrupted", content: [], synthetic: true },
    ];
    const told = await Promise.all(outcomes.map(async (outcome) => (await talk(() => outcome).ask("run ls -l")).said));
    expect(told).toEqual([
      "You denied my request to run `ls -l`, so I did not do it.",
      "I wanted to run `ls -l`, but the call was cancelled. The user cancelled this call before it ran.",
      "I wanted to run `ls -l`, but the run was interrupted and no result was recorded; it may or may not have had an effect.",
    ]);
  });

  it("gets valid requests, each with the previous one as its prefix", async () => {
    const { ask, bodies } = talk();
    for (const words of [
      "list the files",
      "read README.md and nowhere.txt, then run echo hi",
      "why did it fail?",
      "thanks",
    ])
      await ask(words);
    const target = { wire: "openai-chat", provider: "offline", model: "parley" } as const;
    expect(bodies.flatMap((body) => lint(body, target))).toEqual([]);
    const messages = bodies.map((body) => JSON.stringify(body["messages"]).slice(0, -1));
    for (const [index, body] of messages.slice(1).entries()) expect(body.startsWith(messages[index]!)).toBe(true);
  });
});

/** A picture of one colour. */
const png = (width: number, height: number): Buffer => {
  const chunk = (type: string, data: Buffer): Buffer => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    return Buffer.concat([length, Buffer.from(type), data, Buffer.alloc(4)]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const pixels = deflateSync(Buffer.alloc((width + 1) * height));
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    chunk("IDAT", pixels),
    chunk("IEND", Buffer.alloc(0)),
  ]);
};

/** The beginning of a JPEG: a thumbnail's segment, then the frame header. */
const jpeg = (width: number, height: number): Buffer => {
  const frame = Buffer.from([0xff, 0xc0, 0, 17, 8, 0, 0, 0, 0, 3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1]);
  frame.writeUInt16BE(height, 5);
  frame.writeUInt16BE(width, 7);
  const thumbnail = Buffer.concat([Buffer.from([0xff, 0xe0, 0, 22]), Buffer.from("JFIF\0"), frame.subarray(0, 15)]);
  return Buffer.concat([Buffer.from([0xff, 0xd8]), thumbnail, frame, Buffer.from([0xff, 0xd9]), Buffer.alloc(20)]);
};

const gif = (width: number, height: number): Buffer => {
  const bytes = Buffer.alloc(40);
  bytes.write("GIF89a", "latin1");
  bytes.writeUInt16LE(width, 6);
  bytes.writeUInt16LE(height, 8);
  return bytes;
};

const webp = (width: number, height: number): Buffer => {
  const bytes = Buffer.alloc(40);
  bytes.write("RIFF\x20\0\0\0WEBPVP8X", "latin1");
  bytes.writeUIntLE(width - 1, 24, 3);
  bytes.writeUIntLE(height - 1, 27, 3);
  return bytes;
};

describe("an image", () => {
  it.each([
    ["a.png", png(64, 48), "a PNG image of 64x48 pixels (image/png"],
    ["b.jpg", jpeg(320, 200), "a JPEG image of 320x200 pixels (image/jpeg"],
    ["c.gif", gif(7, 9), "a GIF image of 7x9 pixels (image/gif"],
    ["d.webp", webp(1000, 600), "a WEBP image of 1000x600 pixels (image/webp"],
  ])("is received, and described by type, pixels and bytes: %s", async (name, bytes, told) => {
    bench.put(name, bytes);
    const { ask, bodies } = talk();
    expect(await ask(`look at ${name}`)).toEqual({
      said: `${name} is ${told}, ${bytes.length} bytes).`,
      calls: ["read_file"],
    });
    expect(JSON.stringify(bodies.at(-1))).toContain(bytes.toString("base64"));
    const target = { wire: "openai-chat", provider: "offline", model: "parley" } as const;
    expect(bodies.flatMap((body) => lint(body, target))).toEqual([]);
  });

  it("is distinguished from others in the same batch", async () => {
    bench.put("a.png", png(64, 48));
    bench.put("b.png", png(3, 2));
    const { said } = await talk().ask("read a.png, b.png and src/face.ts");
    expect(said).toMatch(
      /^a\.png is a PNG image of 64x48 pixels .*\n\nb\.png is a PNG image of 3x2 pixels .*\n\nsrc\/face\.ts has 1 line/,
    );
  });
});
