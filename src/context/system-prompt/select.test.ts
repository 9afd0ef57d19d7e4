import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openContextFixture, type ContextFixture } from "../fixture.cases.ts";
import { SystemPromptError } from "./error.ts";
import { selectSystemPrompt, type SystemPrompt } from "./select.ts";

let ground: ContextFixture;

beforeEach(async () => {
  ground = await openContextFixture();
});

afterEach(() => ground.close());

const usual = "The usual prompt.";

const prompt = async (env: Record<string, string>, given?: string): Promise<SystemPrompt> => {
  const { world, home, root: folder } = ground;
  const options = { world: { ...world, env }, home, folder, prompt: usual };
  const {
    path,
    writtenTo: written,
    notOverwritten: kept,
    ...rest
  } = await selectSystemPrompt(given === undefined ? options : { ...options, override: given });
  const named = (name: string, value: string | undefined) =>
    value === undefined ? {} : { [name]: ground.maskBase(value) };
  return { ...rest, ...named("path", path), ...named("written", written), ...named("kept", kept) };
};

describe("the prompt of a session", () => {
  it.each([
    {},
    { PARLEY_SYSTEM_MD: "0" },
    { PARLEY_SYSTEM_MD: "false", GEMINI_SYSTEM_MD: "1" },
    { GEMINI_SYSTEM_MD: " " },
  ])("is the usual one with %j", async (env) => {
    ground.put("home/.parley/system.md", "mine");
    expect(await prompt(env)).toEqual({ text: usual, source: "default" });
  });

  it.each([
    [{ PARLEY_SYSTEM_MD: "1" }, "own", "home/.parley/system.md"],
    [{ PARLEY_SYSTEM_MD: "TRUE" }, "own", "home/.parley/system.md"],
    [{ GEMINI_SYSTEM_MD: "true" }, "own", "home/.parley/system.md"],
    [{ PARLEY_SYSTEM_MD: "~/mine.md" }, "tilde", "home/mine.md"],
    [{ PARLEY_SYSTEM_MD: "prompts/a.md" }, "relative", "home/project/prompts/a.md"],
    [{ PARLEY_SYSTEM_MD: "~/mine.md", GEMINI_SYSTEM_MD: "prompts/a.md" }, "tilde", "home/mine.md"],
  ])("comes from a file with %j", async (env, text, path) => {
    ground.put("home/.parley/system.md", "\ufeffown\r\n");
    ground.put("home/mine.md", "tilde");
    ground.put("home/project/prompts/a.md", "relative");
    expect(await prompt(env)).toEqual({ text, source: "file", path: `{BASE}/${path}` });
  });

  it("is what the person gave, before any file", async () => {
    expect(await prompt({ PARLEY_SYSTEM_MD: "none.md" }, "Be brief.")).toEqual({ text: "Be brief.", source: "option" });
  });

  it.each([
    ["none.md", "does not exist"],
    [".", "cannot be read"],
    ["empty.md", "is empty"],
    ["long.md", "is too long"],
  ])("is an error where the file %s that was asked for is no prompt", async (path, why) => {
    ground.put("home/project/empty.md", " \n");
    ground.put("home/project/long.md", "x".repeat(2 ** 20 + 1));
    const failed = prompt({ GEMINI_SYSTEM_MD: path });
    await expect(failed).rejects.toBeInstanceOf(SystemPromptError);
    await expect(failed).rejects.toThrow(why);
    await expect(failed).rejects.toThrow("GEMINI_SYSTEM_MD names it");
  });

  it.each([
    [{ PARLEY_WRITE_SYSTEM_MD: "1" }, "home/.parley/system.md"],
    [{ GEMINI_WRITE_SYSTEM_MD: "~/p.md" }, "home/p.md"],
    [{ PARLEY_WRITE_SYSTEM_MD: "p.md", GEMINI_WRITE_SYSTEM_MD: "1" }, "home/project/p.md"],
  ])("is written with %j, once", async (env, path) => {
    const written = { text: usual, source: "default", written: `{BASE}/${path}` };
    expect(await prompt(env)).toEqual(written);
    expect(readFileSync(join(ground.base, path), "utf8")).toBe(`${usual}\n`);
    expect(statSync(join(ground.base, path)).mode & 0o777).toBe(0o600);
    expect(await prompt(env)).toEqual(written);
  });

  it("that a person has edited is never overwritten", async () => {
    ground.put("home/.parley/system.md", "mine");
    expect(await prompt({ PARLEY_SYSTEM_MD: "1", PARLEY_WRITE_SYSTEM_MD: "1" })).toEqual({
      text: "mine",
      source: "file",
      path: "{BASE}/home/.parley/system.md",
      kept: "{BASE}/home/.parley/system.md",
    });
    expect(readFileSync(join(ground.home, "system.md"), "utf8")).toBe("mine");
  });

  it("is written into the agent's own folder even where that is new, and into no other new folder", async () => {
    const { world, base, root: folder } = ground;
    const home = join(base, "home", ".new");
    const options = { world: { ...world, env: { PARLEY_WRITE_SYSTEM_MD: "1" } }, home, folder, prompt: usual };
    expect(await selectSystemPrompt(options)).toEqual({
      text: usual,
      source: "default",
      writtenTo: join(home, "system.md"),
    });
    expect(statSync(home).mode & 0o777).toBe(0o700);
    await expect(prompt({ PARLEY_WRITE_SYSTEM_MD: "no/such/p.md" })).rejects.toThrow(
      "PARLEY_WRITE_SYSTEM_MD names it: use a file in an existing folder.",
    );
  });
});
