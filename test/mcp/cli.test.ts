import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bin, ensureBuilt, root } from "../built.ts";
import { runCommand } from "../support/run-command.ts";
import { scriptedServer, textOf, withServers } from "./with-servers.ts";

let home: string;
beforeAll(async () => {
  ensureBuilt();
  home = await mkdtemp(join(tmpdir(), "parley-home-"));
});
afterAll(() => rm(home, { recursive: true, force: true }));

type Ended = { readonly code: number | null; readonly out: string; readonly error: string };

const parley = async (...args: readonly string[]): Promise<Ended> => {
  const env = { ...process.env, PARLEY_HOME: home, HOME: home };
  const { code, out, err } = await runCommand(["mcp", ...args], { cwd: home, env });
  return { code, out, error: err };
};

/** A text wrapped as in the list: lines of at most a hundred characters. */
const linesOf = (text: string): string => text.replaceAll(/.{1,98}/g, "  $&\n");

describe("parley mcp", () => {
  it("adds, lists, shows, tests and removes servers, and never shows a key", async () => {
    const added = [
      await parley(
        "add",
        "mine",
        "-e",
        "KEY=s3cret-value",
        "--timeout",
        "60000",
        "--exclude-tools",
        "a,b",
        "--",
        process.execPath,
        scriptedServer,
        "honest",
      ),
      await parley(
        "add",
        "web",
        "https://a.test/mcp",
        "-H",
        "Authorization: Bearer s3cret-value",
        "-t",
        "sse",
        "--trust",
      ),
    ];
    expect(added.map(({ code }) => code)).toEqual([0, 0]);
    const file = join(home, "settings.json");
    expect(JSON.parse(await readFile(file, "utf8"))).toEqual({
      mcpServers: {
        mine: {
          command: process.execPath,
          args: [scriptedServer, "honest"],
          env: { KEY: "s3cret-value" },
          timeout: 60_000,
          excludeTools: ["a", "b"],
        },
        web: { url: "https://a.test/mcp", type: "sse", headers: { Authorization: "Bearer s3cret-value" }, trust: true },
      },
    });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const [listed, shown, tested] = [await parley("list"), await parley("get", "web"), await parley("test", "mine")];
    expect([listed.out, JSON.parse(shown.out), tested.code, tested.out]).toEqual([
      `mine: yours\n${linesOf(`${process.execPath} ${scriptedServer} honest`)}web: yours\n  https://a.test/mcp\n`,
      { web: { url: "https://a.test/mcp", type: "sse", headers: { Authorization: "[secret]" }, trust: true } },
      0,
      "mine: ready, 1 tools, 1 resources, 1 prompts\n  echo\n",
    ]);
    expect([await parley("remove", "web"), await parley("remove", "web")]).toEqual([
      { code: 0, out: "", error: "Removed web.\n" },
      { code: 1, out: "", error: "parley: Unknown server web in your settings.\n" },
    ]);
    expect([listed, shown, tested].map(({ out, error }) => out + error).join("")).not.toContain("s3cret-value");
  });

  it("says why a server does not start", async () => {
    await parley("add", "broken", "--", process.execPath, scriptedServer, "exits");
    expect(await parley("test", "broken")).toMatchObject({
      code: 1,
      out: "broken: failed. broken has exited. Last output on stderr: no licence\n",
    });
  });

  it.each<[readonly string[], RegExp]>([
    [["add", "x"], /Missing command or URL/],
    [["add"], /Missing argument NAME: parley mcp add NAME/],
    [["add", "x", "https://a.test", "-e", "A=1"], /--env is for commands/],
    [["add", "x", "-H", "a:b", "--", "cmd"], /--header and --transport are for URLs/],
    [["add", "x", "-e", "A", "--", "cmd"], /--env must be NAME=VALUE, not "A"/],
    [["add", "x", "--timeout", "soon", "--", "cmd"], /--timeout must be a whole number/],
    [["fly"], /Unknown action "fly" for mcp/],
  ])("rejects %j with a message", async (args, words) => {
    const { code, error } = await parley(...args);
    expect([code, words.test(error)]).toEqual([2, true]);
  });

  it("serves render, convert and lint to others", async () => {
    const configured = { parley: { command: process.execPath, args: [bin, "mcp", "serve"], cwd: root } };
    const broken = {
      model: "gpt-5",
      messages: [
        { role: "user", content: "hi" },
        { role: "tool", tool_call_id: "x", content: "y" },
      ],
    };
    await withServers({ configured }, async ({ servers, call }) => {
      expect(servers.names()).toEqual(["render", "convert", "lint"]);
      const findings = async (body: unknown, to: string): Promise<unknown> =>
        (JSON.parse(textOf(await call("lint", { body, for: to }))) as { findings: unknown[] }).findings;
      const { body } = JSON.parse(textOf(await call("convert", { body: broken, for: "openai-chat" }))) as {
        body: unknown;
      };
      const entries = [{ type: "user", parts: [{ type: "text", text: "hi" }] }];
      const rendered = JSON.parse(
        textOf(await call("render", { conversation: { version: 1, entries, blobs: {} }, for: "anthropic" })),
      ) as { body: unknown };
      expect([
        ((await findings(broken, "openai-chat")) as { rule: string }[]).map(({ rule }) => rule),
        await findings(body, "openai-chat"),
        await findings(rendered.body, "anthropic"),
        textOf(await call("convert", { body: {}, for: "anthropic" })),
      ]).toEqual([["openai-chat/result-without-call"], [], [], 'Cannot detect the API of this body. Set "from".']);
    });
  });
});
