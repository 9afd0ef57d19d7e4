import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commands } from "../../src/cli/commands.ts";
import { call, done, text } from "../../src/conversation/builders.ts";
import { Ledger } from "../../src/conversation/ledger.ts";
import { storeBase64 } from "../../src/conversation/media.ts";
import { providers } from "../../src/providers/all.ts";
import { homeProviders, wireIds } from "../../src/providers/find.ts";
import { bin, ensureBuilt, root, type Ran } from "../built.ts";
import { runCommand } from "../support/run-command.ts";
import { itInAll, perTier } from "../support/tier.ts";

const folder = mkdtempSync(join(tmpdir(), "parley cli "));
const write = (name: string, value: unknown): string => {
  writeFileSync(join(folder, name), typeof value === "string" ? value : JSON.stringify(value));
  return name;
};
const run = (args: readonly string[], input = ""): Promise<Ran> => runCommand(args, { cwd: folder, input });
/** The fields of JSON output that the tests read. */
type Printed = {
  readonly version: string;
  readonly max_tokens: number;
  readonly messages: readonly {
    readonly content: readonly { readonly content: readonly { readonly text: string }[] }[];
  }[];
  readonly findings: readonly unknown[];
};
const json = (value: string): Printed => JSON.parse(value) as Printed;

const weather = (status: "answered" | "pending") => {
  const ledger = new Ledger();
  ledger.user([text("Weather in Oslo?")]);
  const [asked] = ledger.model({ provider: "openai", model: "gpt-5.6" }, [call("weather", { city: "Oslo" }, "call_9")]);
  if (status === "answered") ledger.complete(asked!.id, "weather", done("4 C, rain"));
  return { version: 1, tools: [{ name: "weather" }], entries: ledger.entries, blobs: {} };
};

const audioConversation = () => {
  const { media, blob } = storeBase64("SUQzBAA=", { mimeType: "audio/mpeg" });
  const ledger = new Ledger();
  ledger.user([text("Listen."), media]);
  return { version: 1, entries: ledger.entries, blobs: { [blob.hash]: blob.base64 } };
};

const chatBody = {
  model: "gpt-5.6",
  messages: [
    { role: "user", content: "Weather in Oslo and Rome?" },
    {
      role: "assistant",
      content: null,
      tool_calls: ["Oslo", "Rome"].map((city, index) => ({
        id: `call_${index}`,
        type: "function",
        function: { name: "weather", arguments: JSON.stringify({ city }) },
      })),
    },
    { role: "tool", tool_call_id: "call_1", content: "18 C" },
  ],
};

const anthropicBody = {
  model: "claude-sonnet-5",
  max_tokens: 100,
  messages: [{ role: "user", content: "hello" }],
};

beforeAll(() => {
  ensureBuilt();
  mkdirSync(join(folder, "a folder"));
  write("answered.json", weather("answered"));
  write("pending.json", weather("pending"));
  write("audio.json", audioConversation());
  write("newer.json", { ...weather("answered"), version: 2 });
  write("chat.json", chatBody);
  write("good.json", anthropicBody);
  write("bad.json", { ...anthropicBody, messages: [{ role: "user", content: "" }] });
  write("torn.json", '{\n  "messages": [\n    { "role": "user" "content": "x" }\n  ]\n}\n');
  write("numbers.json", [1, 2, 3]);
  write("string.json", '"hello"');
  write("empty.json", " \n");
  write("unrelated.json", { name: "left-pad", version: "1.0.0" });
  write("silent.json", { messages: [{ role: "user", content: "hello" }], model: "x", max_tokens: 5 });
  write("bare.json", [{ role: "user", content: "hello" }]);
});

afterAll(() => rmSync(folder, { recursive: true }));

describe("parley", () => {
  it("prints its version", async () => {
    const { version } = json(readFileSync(join(root, "package.json"), "utf8"));
    expect(await run(["--version"])).toEqual({ code: 0, out: `${version}\n`, err: "" });
  });

  it("loads nothing else for the version", () => {
    const imports = (path: string) =>
      [...readFileSync(join(root, path), "utf8").matchAll(/^import (?!type )[^;]*from "(.+)";$/gm)].map(
        ([, from]) => from,
      );
    expect(imports("src/cli/main.ts")).toEqual(["./program.ts"]);
    expect(imports("src/cli/program.ts")).toEqual(["node:tty", "../world/version.ts", "./user-error.ts"]);
    expect(imports("src/world/version.ts")).toEqual([]);
    expect(imports("src/cli/user-error.ts")).toEqual([]);
  });

  it.each(["--help", "-h", "help"])("prints help with %s", async (word) => {
    const { code, out, err } = await run([word]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const width = Math.max(...commands.map(({ name }) => name.length));
    for (const { name, about } of commands) expect(out).toContain(`  ${name.padEnd(width)}  ${about}`);
    for (const wire of wireIds) expect(out).toContain(wire);
  });

  it.each(commands.map(({ name }) => name))("prints the help of %s", async (name) => {
    const { code, out } = await run([name, "--help"]);
    expect(code).toBe(0);
    expect(out).toMatch(/^parley [\w-]+: .+\n\nUsage: parley/);
    expect(out).toMatch(/Example: .*parley [\w-]+/);
    expect(out).toMatch(/Exit codes:\n {2}0 /);
    for (const line of out.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
    expect((await run(["help", name])).out).toBe(out);
  });

  it.each([
    [["rendr"], 'Unknown command "rendr". Did you mean render?'],
    [["frobnicate", "main.ts"], 'Unknown command "frobnicate". Available: chat, compare'],
    [["rendr"], 'Unknown command "rendr". Did you mean render?'],
    [["--frobnicate"], "Unknown option --frobnicate for chat. Available: --prompt, --model"],
    [["-p"], "--prompt needs a value: --prompt TEXT."],
    [["-p", "hi", "-o", "xml"], 'Unknown value "xml" for --output-format. Available: text, json, stream-json.'],
    [["-p", "hi", "-m", "antropic"], 'There is no provider "antropic". Did you mean anthropic'],
    [["help", "lnit"], "Did you mean lint?"],
    [["render"], "Missing argument FILE."],
    [["render", "a.json", "b.json", "--for", "google"], 'Unexpected argument "b.json" for render.'],
    [["render", "answered.json"], "--for PROVIDER/MODEL"],
    [["render", "answered.json", "--for"], "--for needs a value"],
    [["render", "answered.json", "--for", "--explain"], "--for needs a value"],
    [["render", "answered.json", "--for", "antropic"], 'no provider "antropic". Did you mean anthropic'],
    [["render", "answered.json", "--for", "anthropic", "--explan"], "Did you mean --explain?"],
    [["render", "answered.json", "--for", "anthropic", "--json=yes"], "--json takes no value."],
    [
      ["render", "answered.json", "--for", "anthropic", "--thinking", "loud"],
      'Unknown value "loud" for --thinking. Available: own, text, none.',
    ],
    [["render", "answered.json", "--for", "anthropic", "--max-tokens", "many"], "--max-tokens must be a whole number"],
    [["render", "gone.json", "--for", "anthropic"], "No such file: gone.json."],
    [["render", "a folder", "--for", "anthropic"], "a folder is a folder, not a file."],
    [["render", "empty.json", "--for", "anthropic"], "empty.json is empty."],
    [["render", "torn.json", "--for", "anthropic"], 'Line 3, column 22: unexpected """, expected "," or "}".'],
    [["render", "newer.json", "--for", "anthropic"], "saved in format 2; this Parley reads format 1"],
    [["render", "chat.json", "--for", "anthropic"], "This is a request body (openai-chat), not a saved conversation."],
    [["render", "numbers.json", "--for", "anthropic"], "This is a list of numbers, not a saved conversation"],
    [["convert", "answered.json", "--for", "anthropic"], "This is a saved conversation, not a request body."],
    [["convert", "numbers.json", "--for", "anthropic"], "This is a list of numbers, not a request body"],
    [["convert", "string.json", "--for", "anthropic"], "This is a string, not a request body"],
    [["convert", "unrelated.json", "--for", "anthropic"], "This is not a request body"],
    [["convert", "bare.json", "--for", "anthropic"], `Use --from with one of: ${wireIds.join(", ")}.`],
    [["convert", "chat.json", "--from", "gemni", "--for", "anthropic"], "Did you mean gemini?"],
    [["lint", "good.json", "--wire", "antropic"], 'There is no wire "antropic". Did you mean anthropic?'],
    [["lint", "good.json", "--for", "antropic/x"], 'There is no provider "antropic".'],
    [["lint", "string.json", "--wire", "gemini"], "This is a string, not a request body."],
    [["lint", "bare.json", "--wire", "gemini"], "This is a list of objects, not a request body."],
    [["lint", "unrelated.json"], "Use --wire with one of: gemini"],
    [["completion", "tcsh"], 'Unknown shell "tcsh". Available: bash, zsh, fish.'],
    [["simulate"], "Missing argument FAMILY."],
    [["simulate", "anthropc"], 'Unknown API "anthropc". Did you mean anthropic?'],
    [["simulate", "bard"], 'Unknown API "bard". Available: gemini, anthropic'],
    [["simulate", "anthropic", "--port", "many"], '--port must be a number from 0 to 65535, not "many".'],
    [["simulate", "anthropic", "--script", "gone.json"], "No such file: gone.json."],
    [["simulate", "anthropic", "--script", "chat.json"], "chat.json is not a valid script."],
    [["models", "groq"], 'Unexpected argument "groq" for models.'],
    [["models", "--provider", "grok"], 'There is no provider "grok". Did you mean groq?'],
    [["doctor", "--provider", "mistrall"], 'There is no provider "mistrall". Did you mean mistral?'],
    [["login", "--provider", "opnai"], 'There is no provider "opnai". Did you mean openai'],
    [["tour", "now"], 'Unexpected argument "now" for tour.'],
  ])("rejects %j with a helpful message and exit code 2", async (args, message) => {
    const { code, out, err } = await run(args);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(/^parley: /);
    expect(err).toContain(message);
  });

  it("does not crash on deeply nested input", async () => {
    const deep = `{"messages":${"[".repeat(200_000)}${"]".repeat(200_000)}}`;
    const { code, err } = await run(["convert", "-", "--from", "anthropic", "--for", "anthropic"], deep);
    expect(err).not.toContain("    at ");
    expect([0, 2]).toContain(code);
  });
});

describe("parley render", () => {
  it("prints the body, and nothing else if nothing was repaired", async () => {
    const { code, out, err } = await run(["render", "answered.json", "--for", "anthropic/claude-sonnet-5"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(/^\{\n {2}"model": "claude-sonnet-5",\n/);
    expect(json(out).messages).toHaveLength(3);
  });

  it("summarizes repairs in one line", async () => {
    expect((await run(["render", "pending.json", "--for", "anthropic"])).err).toBe(
      "parley: 1 repair (1 synthetic result); use --explain for details\n",
    );
  });

  it("prints the report on stderr with --explain", async () => {
    const { err } = await run(["render", "pending.json", "--for", "anthropic/claude-sonnet-5", "--explain"]);
    expect(json(err)).toMatchObject({
      target: "anthropic/claude-sonnet-5",
      calls: [{ call: "hist_tool_1", tool: "weather", status: "interrupted" }],
      notes: [{ class: "rendering", kind: "synthetic-result" }],
    });
  });

  it("prints body and report together with --json, and nothing else", async () => {
    const { out, err } = await run(["render", "pending.json", "--for", "anthropic", "--json", "--compact"]);
    expect(err).toBe("");
    expect(out.trimEnd()).not.toContain("\n");
    expect(Object.keys(json(out))).toEqual(["body", "report"]);
  });

  it("reads stdin for -, in UTF-8 with or without a byte order mark", async () => {
    const saved = readFileSync(join(folder, "answered.json"), "utf8");
    const plain = await run(["render", "-", "--for", "anthropic"], saved);
    expect(plain.code).toBe(0);
    expect(await run(["render", "-", "--for", "anthropic"], `\uFEFF${saved}`)).toEqual(plain);
  });

  it("uses --max-tokens", async () => {
    expect(
      json((await run(["render", "answered.json", "--for", "anthropic", "--max-tokens", "77"])).out).max_tokens,
    ).toBe(77);
  });

  it("formats Gemini results by status with --tool-response status", async () => {
    const { out } = await run(["render", "answered.json", "--for", "google", "--tool-response", "status"]);
    expect(out).toContain('"status": "success"');
    expect(out).toContain('"text_result": "4 C, rain"');
    expect((await run(["render", "answered.json", "--for", "google"])).out).toContain('"output": "4 C, rain"');
  });

  it("describes media the model cannot take, or fails with --unsupported-media error", async () => {
    const named = await run(["render", "audio.json", "--for", "anthropic"]);
    expect(named.code).toBe(0);
    expect(named.err).toContain("1 media stub");
    const refused = await run(["render", "audio.json", "--for", "anthropic", "--unsupported-media", "error"]);
    expect({ code: refused.code, out: refused.out }).toEqual({ code: 1, out: "" });
    expect(refused.err).toContain("cannot take audio (audio/mpeg) from a message.");
    expect(refused.err).toContain("--unsupported-media stub");
  });
});

describe("parley convert", () => {
  it("detects the API of a body", async () => {
    const { code, out, err } = await run(["convert", "chat.json", "--for", "anthropic"]);
    expect({ code, err }).toEqual({
      code: 0,
      err: "parley: 1 repair (1 synthetic result); use --explain for details\n",
    });
    expect(json(out).messages[2]?.content).toHaveLength(2);
  });

  it.each(["openai-chat", "openai-chat/gpt-5.6", "groq", "openrouter/some/model"])(
    "accepts --from %s",
    async (from) => {
      expect((await run(["convert", "chat.json", "--from", from, "--for", "anthropic"])).code).toBe(0);
    },
  );

  it("accepts a list of messages", async () => {
    const { out } = await run(["convert", "bare.json", "--from", "anthropic", "--for", "anthropic"]);
    expect(json(out).messages).toEqual([{ role: "user", content: [{ type: "text", text: "hello" }] }]);
  });

  it("repairs a body for the same API, and lint finds no errors", async () => {
    const before = await run(["lint", "chat.json"]);
    expect(before.code).toBe(1);
    const { out } = await run(["convert", "chat.json", "--for", "openai-chat/gpt-5.6"]);
    expect(await run(["lint", "-", "--for", "openai-chat/gpt-5.6"], out)).toMatchObject({ code: 0 });
  });

  it("renames an argument to a name Anthropic accepts, and reports it", async () => {
    const parameters = { type: "object", properties: { "team:": { type: "string" } }, required: ["team:"] };
    const body = JSON.stringify({
      model: "gpt-4o",
      messages: [{ role: "user", content: "hi" }],
      tools: [{ type: "function", function: { name: "ask", parameters } }],
    });
    const { code, out, err } = await run(["convert", "-", "--for", "anthropic", "--explain"], body);
    expect(code).toBe(0);
    expect(`${out}${err}`).toMatch(/the argument \W*team:\W* is called team_/);
    const { out: sent } = await run(["convert", "-", "--for", "anthropic"], body);
    expect(await run(["lint", "-", "--for", "anthropic"], sent)).toMatchObject({ code: 0 });
  });

  it.each(Object.values(homeProviders))("writes a body that passes lint for %s", async (id) => {
    const { code, out } = await run(["convert", "chat.json", "--for", id]);
    expect(code).toBe(0);
    expect(await run(["lint", "-", "--for", id], out)).toMatchObject({ code: 0 });
  });
});

describe("parley lint", () => {
  it("reports a clean body", async () => {
    expect(await run(["lint", "good.json", "--wire", "anthropic"])).toEqual({
      code: 0,
      out: "clean (anthropic)\n",
      err: "",
    });
  });

  it("prints one finding per line, then a summary", async () => {
    const { code, out } = await run(["lint", "bad.json", "--for", "anthropic/claude-sonnet-5"]);
    expect(code).toBe(1);
    const lines = out.trimEnd().split("\n");
    expect(lines[0]).toMatch(/^\/messages\/0\/content\S* {2}anthropic\/\S+ {2}.+ {2}\[error, rejected\]$/);
    expect(lines.at(-1)).toMatch(/^\d+ errors? \(anthropic, anthropic\/claude-sonnet-5\)$/);
  });

  it("prints JSON with --json", async () => {
    const { code, out } = await run(["lint", "bad.json", "--wire", "anthropic", "--json"]);
    expect(code).toBe(1);
    expect(json(out).findings[0]).toMatchObject({ level: "error", effect: "rejected" });
    expect(json((await run(["lint", "good.json", "--wire", "anthropic", "--json"])).out)).toEqual({ findings: [] });
  });

  it("takes the API from --for or detects it", async () => {
    expect((await run(["lint", "good.json", "--for", "anthropic"])).out).toBe("clean (anthropic, anthropic)\n");
    expect((await run(["lint", "chat.json"])).out).toContain("(openai-chat)");
  });

  it("exits with 0 if there is only advice", async () => {
    const reused = {
      ...anthropicBody,
      messages: [{ role: "assistant", content: "Hi." }, ...anthropicBody.messages],
    };
    const { code, out } = await run(["lint", "-", "--wire", "anthropic"], JSON.stringify(reused));
    expect(out).toContain("[advice, accepted]");
    expect(out).toMatch(/\n1 advice \(anthropic\)\n$/);
    expect(code).toBe(0);
  });

  it("sanitizes text of the body for the terminal", async () => {
    const body = { ...anthropicBody, messages: [{ role: "user", content: [{ type: "\u001B[2Jx\n" }] }] };
    expect((await run(["lint", "-", "--wire", "anthropic"], JSON.stringify(body))).out).not.toMatch(/[^\P{Cc}\n]/u);
  });
});

describe("parley completion", () => {
  const complete = (words: readonly string[]): readonly string[] => {
    const script = `source <("$NODE" "$PARLEY" completion bash)
      COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _parley; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const env = { ...process.env, NODE: process.execPath, PARLEY: bin };
    const out = execFileSync("bash", ["-c", script, "bash", ...words], { cwd: folder, env, encoding: "utf8" });
    return out.split("\n").filter((line) => line !== "");
  };

  it("offers commands, options, names and files in bash", () => {
    expect(complete(["parley", "co"])).toEqual(["compare", "commands", "convert", "config", "completion"]);
    expect(complete(["parley", "lint", "--"])).toEqual(["--wire", "--for", "--json", "--help"]);
    expect(complete(["parley", "simulate", "all", "--script", "a "])).toEqual(["a folder"]);
  });

  itInAll("offers in bash the values of every option", () => {
    expect(complete(["parley", "lint", "x.json", "--wire", "openai"])).toEqual(["openai-chat", "openai-responses"]);
    expect(complete(["parley", "render", "--for", "anth"])).toEqual([
      `anthropic/${providers.find(({ id }) => id === "anthropic")?.defaultModel}`,
    ]);
    expect(complete(["parley", "render", "--unsupported-media", ""])).toEqual(["stub", "error"]);
    expect(complete(["parley", "completion", ""])).toEqual(["bash", "zsh", "fish"]);
    expect(complete(["parley", "doctor", "--provider", "anth"])).toEqual(["anthropic"]);
    expect(complete(["parley", "models", "--provider", ""])).toEqual(providers.map(({ id }) => id));
    expect(complete(["parley", "login", "--provider", "code"])).toEqual(["code-assist"]);
    expect(complete(["parley", "simulate", "openai-"])).toEqual(["openai-chat", "openai-responses"]);
    expect(complete(["parley", "simulate", "a"])).toEqual(["anthropic", "azure", "all"]);
    expect(complete(["parley", "render", "a "])).toEqual(["a folder"]);
  });

  it("prints scripts for zsh and fish", async () => {
    expect((await run(["completion", "zsh"])).out).toMatch(/^#compdef parley\n/);
    const fish = (await run(["completion", "fish"])).out;
    for (const { name } of commands) expect(fish).toContain(`-a ${name} -d '`);
  });
});

describe("large bodies", () => {
  const repeats = perTier({ quick: 500_000, all: 2_000_000 });
  const large = () => {
    const messages = chatBody.messages.map((message) =>
      message.role === "tool" ? { ...message, content: "0123456789abcdef".repeat(repeats) } : message,
    );
    return write("large.json", { ...chatBody, messages });
  };

  it("are converted in full", async () => {
    const { code, out } = await run(["convert", large(), "--for", "anthropic"]);
    expect(code).toBe(0);
    expect(json(out).messages[2]?.content[1]?.content[0]?.text).toHaveLength(16 * repeats);
  });

  it("exit silently if the output is closed", async () => {
    const child = spawn(process.execPath, [bin, "convert", large(), "--for", "anthropic", "--explain"], {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let err = "";
    child.stderr.on("data", (chunk: Buffer) => (err += String(chunk)));
    child.stdout.once("data", () => child.stdout.destroy());
    const [code] = await once(child, "close");
    expect(code).toBe(0);
    expect(err).not.toMatch(/EPIPE|Error/);
  });
});

describe("tools", () => {
  const listed = async (
    args: readonly string[],
  ): Promise<readonly { name: string; access: string; parameters: { properties: object } }[]> =>
    JSON.parse((await run(["tools", ...args, "--json"])).out).tools;

  it("prints all sixteen tools with access and parameters", async () => {
    expect((await listed([])).map(({ name, access }) => [name, access])).toEqual(
      expect.arrayContaining([
        ["read_file", "read"],
        ["replace", "write"],
        ["run_shell_command", "execute"],
        ["web_fetch", "network"],
      ]),
    );
    expect(await listed([])).toHaveLength(16);
    const { out } = await run(["tools"]);
    for (const { name, parameters } of await listed([]))
      for (const word of [name, ...Object.keys(parameters.properties)]) expect(out).toContain(word);
    expect(out.split("\n").filter((line) => line.length > 100)).toEqual([]);
  });

  it("prints one tool by name, and suggests the nearest name for a mistyped one", async () => {
    expect((await listed(["glob"])).map(({ name }) => name)).toEqual(["glob"]);
    expect(await run(["tools", "reed_file"])).toMatchObject({ code: 2, out: "" });
    expect((await run(["tools", "reed_file"])).err).toContain("Did you mean read_file?");
  });
});
