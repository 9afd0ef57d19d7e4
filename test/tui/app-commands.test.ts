import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { createPng } from "../../src/cli/tour/png.ts";
import { ensureBuilt } from "../built.ts";
import { appFixtures } from "./app-fixture.ts";

ensureBuilt();
const { on, started } = appFixtures();

/** A red image of two by one pixels. */
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAAD0lEQVR4nGP4z8DAwPAfAAUAAf/8Q1SWAAAAAElFTkSuQmCC",
  "base64",
);

describe("trust", () => {
  const files = {
    "AGENTS.md": "Always say please.\n",
    ".parley/commands/greet.md": "---\ndescription: says hello\n---\nSay hello to $ARGUMENTS.\n",
  };

  it("is asked for before project settings are used, and Enter alone does not grant it", async () => {
    const { start } = await on({ files, isTrusted: false });
    const app = start();
    await app.waitForText("Trust this folder?");
    app.type("\r");
    await app.waitForText("Not trusted. Change it with /trust.");
    await app.waitForText(/not trusted · default$/);
    app.submit("/greet Ann");
    await app.waitForText("Unknown command /greet.");
    await app.quit();
    const again = start();
    await again.waitForText("Trust this folder?");
    again.type("\u001b[B\u001b[B\r");
    await again.waitForText(/not trusted · default$/);
    await again.quit();
    const third = start();
    await third.waitForText(/not trusted · default$/);
    expect(third.screen.scrollback().join("\n")).not.toContain("Trust this folder?");
    await third.quit();
  });

  it("loads the project's commands and context files once granted", async () => {
    const { start } = await on({
      files,
      isTrusted: false,
      script: {
        rules: [
          { system: "Always say please.", prompt: "Say hello to Ann.", replies: [{ say: "Hello Ann, please." }] },
        ],
      },
    });
    const app = start();
    await app.waitForText("Trust this folder?");
    app.type("\r");
    await app.waitForText(/not trusted · default$/);
    app.submit("/trust");
    await app.waitForText("› No");
    app.type("\u001b[B\r");
    await app.waitForText("Trusted.");
    app.submit("/greet Ann");
    await app.waitForText("Hello Ann, please.");
    await app.quit();
  });

  it("holds back the first message until it is decided", async () => {
    const { start } = await on({ files, isTrusted: false, args: ["which model are you?"] });
    const app = start();
    await app.waitForText("Trust this folder?");
    expect(app.screen.scrollback()).not.toContain("> which model are you?");
    app.type("\r");
    await app.waitForText(/^I am /);
    await app.quit();
  });
});

describe("custom commands", () => {
  it("fill in arguments, in Markdown and in TOML", async () => {
    const [app] = await started({
      files: {
        ".claude/commands/pair.md": "First $1, then $2, all: $ARGUMENTS",
        ".gemini/commands/git/say.toml": 'description = "says it"\nprompt = "Say {{args}} twice."\n',
        ".gemini/commands/broken.toml": "prompt =\n",
      },
      script: {
        rules: [
          { prompt: 'First a b, then c, all: "a b" c', replies: [{ say: "The pair came." }] },
          { prompt: "Say what twice.", replies: [{ say: "What, what." }] },
        ],
      },
    });
    await app.waitForText('.gemini/commands/broken.toml ignored: not valid TOML with a "prompt".');
    app.submit('/pair "a b" c');
    await app.waitForText("The pair came.");
    app.submit("/git:say what");
    await app.waitForText("What, what.");
    await app.quit();
  });

  it("use their model and, with consent, their tools for one turn, and say what is not honoured", async () => {
    const make = (file: string): object => ({
      call: { tool: "run_shell_command", input: { command: `touch ${file}` } },
    });
    const [app, { project }] = await started({
      files: {
        ".claude/commands/make.md":
          "---\nmodel: offline/script\nallowed-tools: Bash(touch:*), Teleport(x)\ncontext: fork\n---\nMake it.",
      },
      script: {
        rules: [
          { prompt: "Make it.", model: "script", replies: [make("made"), { say: "Made by script." }] },
          { prompt: "Again.", model: "parley", replies: [make("again"), { say: "Made by parley." }] },
        ],
      },
    });
    app.submit("/make");
    await app.waitForText("/make asks to run these without approval: run_shell_command(touch)");
    app.type("\u001b[B\r");
    await app.waitForText("Made by script.");
    await app.waitUntilIdle();
    expect(existsSync(join(project, "made"))).toBe(true);
    const seen = app.screen.scrollback().join("\n");
    expect(seen).toContain("/make: context has no effect here.");
    expect(seen).toContain("Teleport(x)");
    expect(seen).toContain("/make uses offline/script for this turn.");
    app.submit("Again.");
    await app.waitForQuestion();
    expect(existsSync(join(project, "again"))).toBe(false);
    app.type("y");
    await app.waitForText("Made by parley.");
    await app.quit();
  });

  it("run a shell command only after confirmation, with the arguments quoted as one", async () => {
    const [app, { project }] = await started({
      files: { ".gemini/commands/see.toml": 'prompt = "It printed: !{mkdir {{args}} && echo made}"\n' },
      script: {
        rules: [
          { prompt: "It printed: made", replies: [{ say: "It was made." }] },
          { prompt: "was not run", replies: [{ say: "Left out." }] },
        ],
      },
    });
    app.submit("/see x; touch y");
    await app.waitForText("› Skip the command");
    expect(app.screen.rows()).toContain("$ mkdir 'x; touch y' && echo made");
    app.type("\r");
    await app.waitForText("Left out.");
    await app.waitUntilIdle();
    app.submit("/see x; touch y");
    await app.waitForText("› Skip the command");
    app.type("\u001b[B\r");
    await app.waitForText("It was made.");
    expect([existsSync(join(project, "x; touch y")), existsSync(join(project, "y"))]).toEqual([true, false]);
    await app.quit();
  });
});

describe("attachments", () => {
  it("are completed after @ and attached", async () => {
    const [app] = await started({
      files: { "notes/today.txt": "buy milk\n" },
      script: { rules: [{ prompt: "buy milk", replies: [{ say: "Milk it is." }] }] },
    });
    app.type("read @no");
    await app.waitForText("› notes/");
    app.type("\r");
    await app.waitForText("› notes/today.txt");
    app.type("\r");
    await app.waitForText("> read @notes/today.txt");
    app.type("\r");
    await app.waitForText("Milk it is.");
    expect(app.screen.scrollback()).toContain("Attached notes/today.txt.");
    await app.quit();
  });

  it("include an image whose path was pasted, also from outside the folder", async () => {
    const [app, { home }] = await started();
    mkdirSync(join(home, "my pictures"));
    writeFileSync(join(home, "my pictures", "red.png"), png);
    app.type(`look at \u001b[200~${join(home, "my pictures", "red.png").replaceAll(" ", "\\ ")}\u001b[201~`);
    await app.waitForText("> look at [red.png #1]");
    app.type("\r");
    await app.waitForText(/^ {2}image\/png, 72 bytes, 2 × 1 pixels$/);
    await app.waitForText(/^I .*2x1|2 × 1|2 by 1/);
    await app.quit();
  });
});

describe("MCP servers", () => {
  const server = {
    command: process.execPath,
    args: [fileURLToPath(new URL("../mcp/scripted-server.mjs", import.meta.url))],
  };

  it("offer resources as mentions, prompts as commands, and tools that need approval", async () => {
    const made = await on({
      script: {
        rules: [
          { prompt: "the text of note://one", replies: [{ say: "The note came." }] },
          { prompt: "Greet Ann.", replies: [{ say: "Hello Ann." }] },
          {
            prompt: "echo it",
            replies: [{ call: { tool: "echo", input: { message: "hi" } } }, { say: "It echoed." }],
          },
        ],
      },
    });
    writeFileSync(join(made.home, ".parley", "settings.json"), JSON.stringify({ mcpServers: { mine: server } }));
    const app = made.start();
    await app.waitForText("MCP servers: mine.");
    await app.waitForText(/ · \d+% of \d+k +default$/);
    app.submit("/mcp");
    await app.waitForText("mine ready  1 tool, 1 resource, 1 prompt");
    app.type("read @mine");
    await app.waitForText("› mine:note://one");
    app.type("\t\r");
    await app.waitForText("The note came.");
    await app.waitUntilIdle();
    app.submit("/mine:greet Ann");
    await app.waitForText("Hello Ann.");
    await app.waitUntilIdle();
    app.submit("echo it");
    await app.waitForText(/^╭─ Call echo on MCP server mine\?/);
    app.type("y");
    await app.waitForText("It echoed.");
    await app.quit();
  });

  it("of a project are started only after consent", async () => {
    const { start } = await on({ files: { ".mcp.json": JSON.stringify({ mcpServers: { theirs: server } }) } });
    const app = start();
    await app.waitForText("› No");
    expect(app.screen.rows().join("").replaceAll(/\s/g, "")).toContain("scripted-server.mjs");
    app.type("\r");
    await app.waitUntilIdle();
    app.submit("/mcp");
    await app.waitForText("› No");
    app.type("\u001b[B\r");
    await app.waitForText("MCP servers: theirs.");
    await app.waitForText(/ · \d+% of \d+k +default$/);
    app.submit("/mcp");
    await app.waitForText("theirs ready  1 tool, 1 resource, 1 prompt");
    await app.quit();
  });

  it("of a project ask for consent at each start, until yes or never", async () => {
    const other = { ...server, env: { OTHER: "1" } };
    const files = { ".mcp.json": JSON.stringify({ mcpServers: { theirs: server, other } }) };
    const { start } = await on({ files, isTrusted: false });
    const app = start();
    await app.waitForText("Trust this folder?");
    app.type("\u001b[B\r");
    await app.waitForText("Always start theirs in this project?");
    app.type("\u001b[B\r");
    await app.waitForText("Always start other in this project?");
    app.type("\r");
    await app.waitForText("MCP servers: theirs.");
    await app.quit();
    const again = start();
    await again.waitForText("Always start other in this project?");
    again.type("\u001b[B\u001b[B\r");
    await again.waitForText("MCP servers: theirs.");
    await again.quit();
    const third = start();
    await third.waitForText("MCP servers: theirs.");
    expect(third.screen.scrollback().join("\n")).not.toContain("Always start");
    await third.quit();
  });
});

describe("images", () => {
  it("are shown below a line of facts if the terminal can", async () => {
    const [app] = await started({ files: { "red.png": png }, env: { TERM: "xterm-kitty" } });
    app.submit("look at red.png");
    await app.waitForText("  image/png, 72 bytes, 2 × 1 pixels");
    await app.waitFor(() => app.output().includes("\u001b_Ga=T"));
    await app.waitUntilIdle();
    expect(app.screen.scrollback().filter((row) => /red\.png$|pixels$/.test(row))).toEqual([
      "> look at red.png",
      "✓ read_file Read red.png",
      "  image/png, 72 bytes, 2 × 1 pixels",
    ]);
    expect(app.output()).toContain(`\u001b_Ga=T,f=100,q=2,C=1,c=1,r=1,m=0;${png.toString("base64")}\u001b\\`);
    await app.quit();
  });

  it("are drawn as sixels on a terminal that reports them, scaled to its cell size", async () => {
    const [app] = await started({ files: { "light.png": createPng(40, 90) } });
    app.type("\u001b[?62;4c");
    await app.waitFor(() => app.output().includes("\u001b[16t"));
    app.type("\u001b[6;5;10t\u001b[6;10;2t");
    app.submit("look at light.png");
    await app.waitFor((rows) => app.output().includes("\u001bP") && rows.some((row) => /40 × 90 pixels/.test(row)));
    await app.waitUntilIdle();
    const bands = Array.from({ length: 15 }, () => "#0!40~").join("-");
    expect(app.output()).toContain(`\u001b7\u001bP0;1q"1;1;40;90#0;2;96;96;96${bands}\u001b\\\u001b8`);
    const rows = app.screen.rows();
    expect(rows.slice(rows.findIndex((row) => row.includes("40 × 90 pixels")) + 1).slice(0, 9)).toEqual(
      Array.from({ length: 9 }, () => ""),
    );
    await app.quit();
  });
});

describe("commands", () => {
  it("are completed, and run with Enter", async () => {
    const [app] = await started();
    app.type("/sta");
    await app.waitForText("› stats  Show token use, cost and tool calls");
    app.type("\r");
    await app.waitForText("since it was opened:");
    await app.quit();
  });

  it("suggest the nearest name for an unknown one", async () => {
    const [app] = await started();
    app.submit("/modle");
    await app.waitForText("Unknown command /modle. Did you mean /model?");
    await app.quit();
  });

  it("serve the inspector page of the session, which follows it", async () => {
    const [app] = await started({ files: { "a.txt": "hello\n" } });
    app.submit("read a.txt");
    await app.waitForText(/9\d% cached/);
    app.submit("/inspect");
    await app.waitForText("#token=");
    const address = /http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{32}/.exec(app.screen.rows().join(""))?.[0] ?? "";
    const { origin, hash } = new URL(address);
    const overview = async (): Promise<{ readonly entries: number }> => {
      const headers = { "x-parley-token": hash.slice("#token=".length) };
      return (await (await fetch(`${origin}/api/overview`, { headers })).json()) as { readonly entries: number };
    };
    const { entries } = await overview();
    expect(entries).toBeGreaterThan(2);
    app.submit("read a.txt again");
    await app.waitForText("read a.txt again");
    await expect.poll(async () => (await overview()).entries).toBeGreaterThan(entries);
    await app.quit();
  });

  it("show what fills the context, by part", async () => {
    const [app] = await started({ files: { "a.txt": "hello\n" } });
    app.submit("read a.txt");
    await app.waitForText(/9\d% cached/);
    app.submit("/context");
    await app.waitForText("The next request has about");
    const parts = app.screen.rows().flatMap((row) => /^([a-z ]+?) +│ +\S+ │ +\d+%$/.exec(row)?.[1] ?? []);
    expect(parts).toEqual([
      "system prompt",
      "tool definitions",
      "your messages",
      "answers",
      "tool results",
      "files",
      "notices",
    ]);
    await app.quit();
  });

  it("change the approval mode, also for pending questions", async () => {
    const [app, { read }] = await started();
    app.type("\u001b[Z");
    await app.waitForText(/ auto_edit$/);
    app.submit('create a.txt with "hello"');
    await app.waitForText("I created a.txt");
    expect(read("a.txt")).toBe("hello");
    app.submit("/approval plan");
    await app.waitForText("plan: read-only; denies everything else.");
    await app.waitForText(/ plan$/);
    await app.quit();
  });

  it("switch only to a usable model, and keep model and mode in a new session", async () => {
    const [app] = await started();
    app.submit("/model anthropic/claude-sonnet-5");
    await app.waitForText("Anthropic is not ready: Set ANTHROPIC_API_KEY");
    await app.waitForText(/^offline\/parley · /);
    app.submit("/model offline/other");
    await app.waitForText("Switched to offline/other. Used from the next request and in new sessions.");
    app.submit("/approval plan");
    await app.waitForText(/^offline\/other · .* plan$/);
    app.submit("/clear");
    await app.waitFor((rows) => rows.includes("offline/other"));
    await app.waitForText(/^offline\/other · .* plan$/);
    await app.quit();
  });

  it("export the session twice to one file: numbered, or overwritten if the user says so", async () => {
    const [app, { read }] = await started();
    app.submit("which model are you?");
    await app.waitForText(/^I am /);
    await app.waitUntilIdle();
    app.submit("/export json all.json");
    await app.waitForText(/^Written to .*all\.json$/);
    app.submit("/export json all.json");
    await app.waitForText("all.json exists.");
    app.type("\r");
    await app.waitForText(/^Written to .*all-2\.json$/);
    expect(read("all-2.json")).toBe(read("all.json"));
    app.submit("/export markdown all.json");
    await app.waitForText("Write all-3.json");
    app.type("\u001b[B\r");
    await app.waitUntilIdle();
    expect(read("all.json")).toContain("which model are you?");
    await app.quit();
  });

  it("export the session to a named file: its ending decides the format", async () => {
    const [app, { read }] = await started();
    app.submit("which model are you?");
    await app.waitForText(/^I am /);
    await app.waitUntilIdle();
    app.submit("/export notes.md");
    await app.waitForText(/^Written to .*notes\.md$/);
    app.submit("/export all.json");
    await app.waitForText(/^Written to .*all\.json$/);
    expect(JSON.parse(read("all.json"))).toMatchObject({ version: 1 });
    expect(read("notes.md")).toContain("which model are you?");
    app.submit("/export notes.xyz");
    await app.waitForText('Unknown format "notes.xyz". Available: markdown, html, json, ');
    await app.quit();
  });

  it("export the session without overwriting a file", async () => {
    const [app, { read }] = await started({ files: { "taken.md": "mine" } });
    app.submit("which model are you?");
    await app.waitForText(/^I am /);
    await app.waitUntilIdle();
    app.submit("/export json all.json");
    await app.waitForText(/^Written to .*all\.json$/);
    expect(JSON.parse(read("all.json"))).toMatchObject({
      version: 1,
      entries: [{}, { type: "user" }, { type: "model" }],
    });
    app.submit("/export anthropic body.json");
    await app.waitForText(/^Written to .*body\.json$/);
    expect(JSON.parse(read("body.json"))).toMatchObject({ model: "claude-sonnet-5", system: expect.anything() });
    expect(read("body.json")).toContain("which model are you?");
    app.submit("/export markdown taken.md");
    await app.waitForText("taken.md exists.");
    app.type("\u001b");
    await app.waitUntilIdle();
    expect(read("taken.md")).toBe("mine");
    await app.quit();
  });

  it("copy the last answer to the clipboard, and nothing else does", async () => {
    const [app] = await started({ script: { rules: [{ prompt: "go", replies: [{ say: "Copied words." }] }] } });
    app.submit("go");
    await app.waitForText("Copied words.");
    await app.waitUntilIdle();
    app.submit("/copy");
    await app.waitForText("Copied 13 characters");
    expect(app.screen.effects().filter((each) => each.startsWith("osc 52"))).toEqual([
      `osc 52 c;${Buffer.from("Copied words.").toString("base64")}`,
    ]);
    await app.quit();
  });

  it("save to memory, and save the theme", async () => {
    const [app, { home }] = await started();
    app.submit("/memory add I like tea");
    await app.waitForText("Saved. Used from the next session.");
    app.submit("/memory");
    await app.waitForText("• I like tea");
    app.submit("/theme light");
    await app.waitForText("Theme set to light.");
    expect(JSON.parse(readFileSync(join(home, ".parley", "settings.json"), "utf8"))).toEqual({
      ui: { theme: "light" },
    });
    await app.quit();
  });

  it("expand collapsed output", async () => {
    const [app] = await started({
      files: { "long.txt": Array.from({ length: 12 }, (_, at) => `row ${at}`).join("\n") },
      script: {
        rules: [
          {
            prompt: "go",
            replies: [{ call: { tool: "run_shell_command", input: { command: "cat long.txt" } } }, { say: "Done." }],
          },
        ],
      },
    });
    app.submit("go");
    await app.waitForText("Done.");
    await app.waitUntilIdle();
    expect(app.screen.scrollback()).not.toContain("  row 0");
    app.type("\u000f");
    await app.waitForText("  row 0");
    await app.quit();
  });
});
