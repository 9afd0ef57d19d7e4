import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { text } from "../../conversation/builders.ts";
import { attachMentions, type AttachedMessage } from "./attach.ts";
import type { AttachOptions } from "./attach-file.ts";
import { openContextFixture, type ContextFixture } from "../fixture.cases.ts";
import { fc, runsPerTier } from "../../../test/support/fast-check.ts";
import { sampleCases } from "../../../test/support/tier.ts";

let ground: ContextFixture;

beforeEach(async () => {
  ground = await openContextFixture();
});

afterEach(() => ground.close());

const attach = async (message: string, options: Partial<AttachOptions> = {}): Promise<AttachedMessage> => {
  const { world, files } = ground;
  return attachMentions(message, { disk: world.disk, files, signal: new AbortController().signal, ...options });
};

/** The attached and refused mentions in short. */
const outcome = async (message: string, options?: Partial<AttachOptions>): Promise<readonly string[]> => {
  const { attached, refused } = await attach(message, options);
  return [
    ...attached.map(
      ({ kind, path, isCut }) =>
        `${kind} ${ground.maskBase(path).replace("{BASE}/home/project/", "")}${isCut ? " cut" : ""}`,
    ),
    ...refused.map(({ reason, mention }) => `${reason} ${ground.maskBase(mention)}`),
  ];
};

const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

describe("a message with mentions", () => {
  it("says how many mentions past the hundredth are left out", async () => {
    const { refused } = await attach(Array.from({ length: 103 }, (_, index) => `@server:${index}`).join(" "));
    expect(refused.filter(({ reason }) => reason === "too-many")).toEqual([
      {
        mention: "@server:100",
        reason: "too-many",
        message: "A message attaches at most 100 mentions; 3 more mentions were left out, from @server:100 on.",
      },
    ]);
  });

  it("keeps the person's words first and unchanged, then what they mention", async () => {
    ground.put("home/project/src/a.ts", "a();\n");
    ground.put("home/project/p.png", pixel);
    const message = "Compare @src/a.ts with @p.png, me@home.org, @src/a.ts";
    const { parts, blobs, attached, refused } = await attach(message);
    expect(parts).toEqual([
      text(message),
      text("What the message mentions with @:"),
      text("--- src/a.ts ---\na();\n"),
      text("--- p.png ---"),
      {
        type: "media",
        kind: "image",
        mimeType: "image/png",
        name: "p.png",
        width: 1,
        height: 1,
        id: expect.stringMatching(/^file-[0-9a-f]{8}$/) as string,
        source: { type: "blob", hash: blobs[0]?.hash, bytes: pixel.length },
      },
    ]);
    expect(blobs.map(({ base64 }) => base64)).toEqual([pixel.toString("base64")]);
    expect(attached).toEqual([
      { mention: "@src/a.ts", path: join(ground.root, "src/a.ts"), shown: "src/a.ts", kind: "text", isCut: false },
      { mention: "@p.png,", path: join(ground.root, "p.png"), shown: "p.png", kind: "media", isCut: false },
    ]);
    expect(refused).toEqual([]);
  });

  it.each(
    sampleCases<[string, readonly string[]]>(
      [
        ["@a.ts", ["text a.ts"]],
        ["see (@a.ts).", ["text a.ts"]],
        ["@a.ts:12 and @./a.ts", ["text a.ts"]],
        ["@my\\ file.txt", ["text my file.txt"]],
        ['@"my file.txt"', ["text my file.txt"]],
        ["@link.ts", ["text a.ts"]],
        ["@sub/", ["folder sub"]],
        ["@sub", ["folder sub"]],
        ["@.", ["folder {BASE}/home/project"]],
        ["@sub/*.ts", ["text sub/x.ts", "text sub/y.ts"]],
        [
          "@**/*.ts @sub/**",
          ["text a.ts", "text app/[id].ts", "text sub/deep/z.ts", "text sub/x.ts", "text sub/y.ts", "text sub/n.md"],
        ],
        ["@sub/{x,y}.ts!", ["text sub/x.ts", "text sub/y.ts"]],
        ["@app/[id].ts", ["text app/[id].ts"]],
        ["@built/out.js", ["text built/out.js"]],
        ["@empty.txt", ["text empty.txt"]],
        ["@Override @types/node @app.get('/x') @pytest.mark.skip @ a@b.c \\@a.ts", []],
        ["import x from '@/components/x'; @sub/*.none", ["absent @sub/*.none"]],
        [
          '@sub/nothing.ts @gone.md @"no such" @./x',
          ["absent @sub/nothing.ts", "absent @gone.md", 'absent @"no such"', "absent @./x"],
        ],
        [
          "@../../out/canary.md @/etc/passwd @~/x",
          ["outside @../../out/canary.md", "outside @/etc/passwd", "outside @~/x"],
        ],
        ["@leads-out.md @leads-out/canary.md", ["outside @leads-out.md"]],
        [
          "@kept.txt @kept/ @kept/x.md @alias.txt",
          ["ignored @kept.txt", "ignored @kept/", "ignored @kept/x.md", "ignored @alias.txt"],
        ],
        ["@kept/*", ["ignored @kept/*"]],
        ["@data.bin", ["not-text @data.bin"]],
        ["@pipe", ["unreadable @pipe"]],
        ["@huge.png", ["too-large @huge.png"]],
        ["@long.txt", ["text long.txt cut"]],
        ["@utf16.txt", ["text utf16.txt"]],
      ],
      3,
    ),
  )("%s", async (message, expected) => {
    for (const path of ["a.ts", "my file.txt", "sub/x.ts", "sub/y.ts", "sub/n.md", "sub/deep/z.ts", "app/[id].ts"])
      ground.put(`home/project/${path}`);
    ground.put("home/project/.gitignore", "built\n*.gen.ts\n");
    ground.put("home/project/sub/x.gen.ts");
    ground.put("home/project/.parleyignore", "kept*\n");
    ground.put("home/project/built/out.js");
    ground.put("home/project/built/out.ts");
    ground.put("home/project/empty.txt", "");
    ground.put("home/project/kept.txt", "canary");
    ground.put("home/project/kept/x.md", "canary");
    ground.put("home/project/data.bin", Buffer.from("00010203", "hex"));
    ground.put("home/project/huge.png", Buffer.concat([pixel, Buffer.alloc(21 * 2 ** 20)]));
    ground.put("home/project/long.txt", "line\n".repeat(3000));
    ground.put("home/project/utf16.txt", Buffer.from("\ufeffwörds", "utf16le"));
    ground.link("home/project/link.ts", "a.ts");
    ground.link("home/project/alias.txt", "kept.txt");
    ground.link("home/project/leads-out.md", "../../out/canary.md");
    execFileSync("/usr/bin/mkfifo", [join(ground.root, "pipe")]);
    expect(await outcome(message)).toEqual(expected);
    expect(JSON.stringify((await attach(message)).parts.slice(1))).not.toContain("canary");
  });

  it("holds no file kept from models by another name, even where only its own is known", async () => {
    ground.put("home/project/kept.txt", "canary");
    ground.link("home/project/alias.txt", "kept.txt");
    const ignored = async (path: string) => (path === join(ground.root, "kept.txt") ? ".parleyignore" : undefined);
    expect(await outcome("@alias.txt", { files: { ...ground.files, ignored } })).toEqual(["ignored @alias.txt"]);
  });

  it("shows the names in a folder, not what is in the files", async () => {
    ground.put("home/project/sub/x.ts", "canary");
    ground.put("home/project/sub/deep/y.ts", "canary");
    const { parts } = await attach("@sub/");
    expect(parts.slice(2)).toEqual([text("--- sub (folder) ---\ndeep/\n  y.ts\nx.ts\n")]);
  });

  it("does not open the agent's own folder", async () => {
    await ground.close();
    ground = await openContextFixture({ roots: ["home"] });
    ground.put("home/.parley/trust.json", "{}");
    expect(await outcome("@.parley/trust.json @.parley @.parley/*")).toEqual([
      "protected @.parley/trust.json",
      "protected @.parley",
      "protected @.parley/*",
    ]);
  });

  it("says of long files what is missing, and ends where a message is full", async () => {
    const line = `${"x".repeat(99)}\n`;
    for (const name of ["a", "b", "c", "d"]) ground.put(`home/project/${name}.txt`, line.repeat(1400));
    ground.put("home/project/long.txt", `${"y".repeat(5000)}\n${"z\n".repeat(2500)}`);
    const { parts } = await attach("@long.txt");
    expect(parts[2]).toEqual(
      text(
        expect.stringMatching(
          /^--- long\.txt ---\n\[The first 2000 lines, long ones cut; read_file reads the rest\.\]\ny{2000}/,
        ) as string,
      ),
    );
    expect(await outcome("@a.txt @b.txt @c.txt @d.txt")).toEqual([
      "text a.txt",
      "text b.txt",
      "text c.txt cut",
      "too-large @d.txt",
    ]);
  });

  it("holds a file once, however often it is mentioned, and asks a server once", async () => {
    ground.put("home/project/a.ts", "a");
    const asked: string[] = [];
    const resource: AttachOptions["resource"] = async (_, uri) => {
      asked.push(uri);
      return { parts: [text(uri)], blobs: [] };
    };
    const { parts } = await attach("@a.ts @./a.ts @a.ts @s:x @s:x", { resource });
    expect(parts.slice(2)).toEqual([text("--- a.ts ---\na"), text("x")]);
    expect(asked).toEqual(["x"]);
  });

  it("holds media up to a size in all", async () => {
    for (const name of ["a.png", "b.png"])
      ground.put(`home/project/${name}`, Buffer.concat([pixel, Buffer.alloc(11 * 2 ** 20)]));
    expect(await outcome("@a.png @b.png")).toEqual(["media a.png", "too-large @b.png"]);
  });

  it("takes so many files of a pattern and says how many more there are", async () => {
    for (let at = 0; at < 103; at++) ground.put(`home/project/n/${at}.md`);
    const { attached, refused } = await attach("@n/*.md");
    expect(attached.length).toBe(100);
    expect(refused.map(({ message }) => message)).toEqual(["n/*.md matches 3 more files than one message can hold."]);
  });

  it("asks servers for what they serve, and the workspace for the rest", async () => {
    ground.put("home/project/docs:page", "a file");
    const asked: string[] = [];
    const resource: AttachOptions["resource"] = async (server, uri) => {
      asked.push(`${server} ${uri}`);
      return server === "wiki" ? { parts: [text("served")], blobs: [] } : undefined;
    };
    expect(await outcome("@wiki:x://a/b @docs:page @a.ts:12 @plain", { resource })).toEqual([
      "resource wiki:x://a/b",
      "text docs:page",
    ]);
    expect(asked).toEqual(["wiki x://a/b", "docs page", "a.ts 12"]);
    expect((await attach("@wiki:x", { resource })).parts.slice(2)).toEqual([text("served")]);
  });

  it("stops when told to", async () => {
    ground.put("home/project/a.ts");
    await expect(attach("@a.ts", { signal: AbortSignal.abort(new Error("stopped")) })).rejects.toThrow("stopped");
  });

  it("is never refused as a whole, whatever it says", async () => {
    mkdirSync(join(ground.root, "src"));
    ground.put("home/project/src/a.ts", "a");
    const tokens = fc.constantFrom(
      "@",
      '"',
      "\\",
      " ",
      "src/",
      "a.ts",
      "*",
      "**",
      "{",
      "[",
      "!",
      "..",
      "/",
      "~",
      ")",
      "é",
      "\0",
      "\ud800",
      ":",
    );
    await fc.assert(
      fc.asyncProperty(fc.array(tokens, { maxLength: 12 }), async (all) => {
        const message = all.join("");
        expect((await attach(message)).parts[0]).toEqual(text(message));
      }),
      { numRuns: runsPerTier(300) },
    );
  });
});
