import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hashToken } from "../../src/http/request-guard.ts";
import { runCommand } from "../support/run-command.ts";

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "parley-gateway-"));
});
afterAll(() => rm(home, { recursive: true, force: true }));

const parley = (...args: readonly string[]): ReturnType<typeof runCommand> =>
  runCommand(["gateway", ...args], {
    cwd: home,
    env: { HOME: home, PARLEY_HOME: join(home, ".parley"), PATH: "/bin" },
  });

const write = async (file: string, text: string): Promise<void> => {
  await mkdir(dirname(join(home, file)), { recursive: true });
  await writeFile(join(home, file), text);
};
const read = (file: string): Promise<string> => readFile(join(home, file), "utf8");

describe("parley gateway setup", () => {
  it.each([
    [
      "claude",
      ".claude/settings.json",
      `{\n  // mine\n  "env": { "ANTHROPIC_BASE_URL": "https://old" },\n  "theme": "dark"\n}\n`,
    ],
    ["codex", ".codex/config.toml", `model_provider = "openai"\nmodel = "gpt-5"\n\n[tui]\nmodel = "kept"\n`],
    ["gemini", ".gemini/.env", "GEMINI_API_KEY=old\nOTHER=1\n"],
    ["opencode", ".config/opencode/opencode.json", `{ "theme": "x" }\n`],
    ["pi", ".pi/agent/models.json", `{ "providers": { "other": {} } }\n`],
    ["gemini", ".gemini/settings.json", `{ "security": { "auth": { "selectedType": "oauth-personal" } } }\n`],
    ["qwen", ".qwen/settings.json", `{ "security": { "auth": { "selectedType": "qwen-oauth" } } }\n`],
  ])("prints, writes and undoes the settings of %s", async (client, file, before) => {
    await write(file, before);
    const printed = await parley("setup", client, "--model", "claude-x");
    expect([printed.code, await read(file)]).toEqual([0, before]);
    expect(printed.out).toContain("http://127.0.0.1:4141");

    expect((await parley("setup", client, "--write", "--token", "secret-token", "--model", "claude-x")).code).toBe(0);
    const changed = await read(file);
    if (file === ".gemini/settings.json") expect(changed).toContain(`"selectedType": "gemini-api-key"`);
    else expect(changed).toContain("http://127.0.0.1:4141");
    if (file !== ".gemini/settings.json") expect(changed).toContain("secret-token");
    // A second time changes nothing.
    expect((await parley("setup", client, "--write", "--token", "secret-token", "--model", "claude-x")).code).toBe(0);
    expect(await read(file)).toBe(changed);
    const settings = await read(".parley/settings.json");
    expect(settings).toContain(`sha256:${hashToken("secret-token")}`);
    expect(settings).not.toContain("secret-token");

    expect((await parley("setup", client, "--undo")).code).toBe(0);
    expect(await read(file)).toBe(before);
    expect(await read(".parley/settings.json").catch(() => "")).not.toContain("sha256:");
    expect((await parley("setup", client, "--undo")).code).toBe(1);
  });

  it("removes a file that it created, and keeps what the client wrote since", async () => {
    await rm(join(home, ".claude"), { recursive: true, force: true });
    await parley("setup", "claude", "--write");
    await parley("setup", "claude", "--undo");
    await expect(read(".claude/settings.json")).rejects.toMatchObject({ code: "ENOENT" });
    await parley("setup", "claude", "--write");
    const changed = JSON.parse(await read(".claude/settings.json")) as object;
    await write(".claude/settings.json", JSON.stringify({ ...changed, theme: "light" }));
    await parley("setup", "claude", "--undo");
    expect(JSON.parse(await read(".claude/settings.json"))).toEqual({ theme: "light" });
  });

  it("keeps a spending limit of the client when it writes a new token", async () => {
    await parley("setup", "claude", "--write");
    await writeFile(
      join(home, ".parley/settings.json"),
      JSON.stringify({ gateway: { clients: { claude: { token: "old", spend: 5 } } } }),
    );
    await parley("setup", "claude", "--write", "--token", "new-token");
    expect(JSON.parse(await read(".parley/settings.json"))).toEqual({
      gateway: { clients: { claude: { token: `sha256:${hashToken("new-token")}`, spend: 5 } } },
    });
    await parley("setup", "claude", "--undo");
  });

  it("explains wrong usage", async () => {
    expect(await parley("setup", "nothing")).toMatchObject({
      code: 2,
      err: expect.stringContaining("claude, codex, gemini"),
    });
    expect(await parley("stop")).toMatchObject({ code: 2 });
    expect(await parley("--route", "claude")).toMatchObject({
      code: 2,
      err: expect.stringContaining("PATTERN=TARGET"),
    });
  });
});
