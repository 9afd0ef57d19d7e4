import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { DemoScript } from "../../src/offline/script/script.ts";
import { bin, ensureBuilt } from "../built.ts";
import { appFixtures, type RunningApp, type AppFixture, type AppOptions } from "../tui/app-fixture.ts";
import { scriptedCommand } from "./with-servers.ts";

ensureBuilt();
const { on } = appFixtures();

type Request = { readonly method: string; readonly params: object };

const sampling: Request = {
  method: "sampling/createMessage",
  params: {
    systemPrompt: "Be a \u001b[31mpirate.",
    messages: [
      { role: "user", content: { type: "text", text: "Name a ship." } },
      { role: "user", content: { type: "image", data: "aGVsbG8h", mimeType: "image/png" } },
    ],
    maxTokens: 77,
    includeContext: "allServers",
    modelPreferences: { hints: [{ name: "another" }] },
  },
};

const elicitation = (message: string, properties: object = {}, required: readonly string[] = []): Request => ({
  method: "elicitation/create",
  params: { message, requestedSchema: { type: "object", properties, required } },
});

const form = elicitation(
  "Who are you?",
  {
    name: { type: "string", title: "Name", minLength: 2 },
    age: { type: "integer", minimum: 1, default: 42 },
    colour: { type: "string", enum: ["r", "g"], enumNames: ["Red", "Green"] },
    pets: {
      type: "array",
      items: {
        anyOf: [
          { const: "c", title: "Cat" },
          { const: "d", title: "Dog" },
        ],
      },
    },
    agree: { type: "boolean" },
  },
  ["name"],
);

const address: Request = {
  method: "elicitation/create",
  params: {
    mode: "url",
    message: "Please sign in.",
    url: "https://bank.example@login.pirates.example/a?b=$(id)&c='d",
    elicitationId: "1",
  },
};

/** The URL as the browser gets it. */
const opened = "https://bank.example@login.pirates.example/a?b=$(id)&c=%27d";

/** A model that makes the server send its requests, all at once; and that answers the server's sampling request. */
const asks = (...requests: readonly Request[]): DemoScript => ({
  rules: [
    { prompt: "Name a ship.", replies: [{ say: "The Unsinkable." }] },
    {
      prompt: "go",
      replies: [{ call: requests.map((input) => ({ tool: "echo", input: { ...input } })) }, { say: "All done." }],
    },
  ],
});

/** Writes the settings with the server, which records the answers it gets. */
const configure = ({ project }: AppFixture, more: object = {}, behaviour = "asks"): string => {
  const path = join(project, "servers.json");
  const parrot = scriptedCommand([behaviour, join(project, "answers")], { trust: true, ...more });
  writeFileSync(path, JSON.stringify({ mcpServers: { parrot } }));
  return path;
};

const answers = ({ project }: AppFixture): readonly unknown[] =>
  readFileSync(join(project, "answers"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);

const begin = async (
  requests: readonly Request[],
  { args = [], more = {}, behaviour, ...options }: AppOptions & { more?: object; behaviour?: string } = {},
): Promise<readonly [RunningApp, AppFixture]> => {
  const stage = await on({ script: asks(...requests), ...options });
  const app = stage.start({ args: ["--mcp-config", configure(stage, more, behaviour), ...args] });
  await app.waitForText(args.includes("--screen-reader") ? "run /login" : / · \d+% of \d/);
  app.submit("go");
  return [app, stage];
};

/** The whole session log. */
const kept = ({ home }: AppFixture): string => {
  const folder = join(home, ".parley", "sessions");
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".jsonl"))
    .map((path) => readFileSync(join(folder, path), "utf8"))
    .join("");
};

/** The rows from one that matches, without the frame around a question. */
const rowsOf = (app: RunningApp, from: RegExp): readonly string[] => {
  const rows = app.screen.rows();
  return rows
    .slice(
      rows.findIndex((row) => from.test(row)),
      -1,
    )
    .filter((row) => !row.startsWith("╰"))
    .map((row) => row.replace(/^╭─ (.*?) ─+╮$/, "$1").replace(/^│ (.*?) *│$/, "$1"));
};

const down = "\u001b[B";
const asked = /^╭─ MCP server parrot asks/;

describe("a form of an MCP server", () => {
  it("is filled in field by field, checked in place, and reaches the server", async () => {
    const [app, stage] = await begin([form]);
    await app.waitForText("  y Answer");
    expect(rowsOf(app, asked)).toEqual([
      "MCP server parrot asks",
      "Who are you?",
      "It asks for:",
      "- Name (required)",
      "- age",
      "- colour",
      "- pets",
      "- agree",
      "  y Answer",
      "› n No",
    ]);
    app.type("y");
    await app.waitForText("1 of 5");
    app.type("A\r");
    await app.waitForText("! This must have at least 2 characters; it has 1.");
    app.type("da\r");
    await app.waitForText("2 of 5");
    app.type("\r");
    await app.waitForText("3 of 5");
    app.type(`${down}${down}\r`);
    await app.waitForText("4 of 5");
    app.type(` ${down} \r`);
    await app.waitForText("5 of 5");
    app.type(`${down}${down}\r`);
    await app.waitForText("Your answer:");
    expect(rowsOf(app, asked)).toEqual([
      "MCP server parrot asks",
      "Your answer:",
      "- Name: Ada",
      "- age: 42",
      "- colour: Green",
      "- pets: Cat, Dog",
      "- agree: yes",
      "  y Yes, send it",
      "  e Edit",
      "› n No, don't send",
    ]);
    app.type("y");
    await app.waitForText("All done.");
    expect(answers(stage)).toEqual([
      { action: "accept", content: { name: "Ada", age: 42, colour: "g", pets: ["c", "d"], agree: true } },
    ]);
    await app.quit();
  });

  it("is declined by Enter alone, also once it is filled in", async () => {
    const [app, stage] = await begin([form, elicitation("Sure?")]);
    await app.waitForText("1 more waiting");
    app.type("y");
    await app.waitForText("1 of 5");
    app.type("Ada\r");
    await app.waitForText("2 of 5");
    app.type("\r");
    await app.waitForText("3 of 5");
    app.type("\r");
    await app.waitForText("4 of 5");
    app.type("\r");
    await app.waitForText("5 of 5");
    app.type("\r");
    await app.waitForText("- agree: (skipped)");
    app.type("\r");
    await app.waitForText("Sure?");
    app.type("\r");
    await app.waitForText("All done.");
    expect(answers(stage)).toEqual([{ action: "decline" }, { action: "decline" }]);
    await app.quit();
  });

  it("is cancelled by Esc, and the turn continues; one without fields is a yes-or-no question", async () => {
    const [app, stage] = await begin([form, elicitation("Sure?")]);
    await app.waitForText(asked);
    app.type("y");
    await app.waitForText("1 of 5");
    app.type("\u001b");
    await app.waitForText("Sure?");
    app.type("y");
    await app.waitForText("All done.");
    expect(answers(stage)).toEqual([{ action: "cancel" }, { action: "accept", content: {} }]);
    await app.quit();
  });

  it("does not take typed text for an answer", async () => {
    const [app, stage] = await begin([elicitation("Sure?")]);
    app.type("a draft");
    await app.waitForText("A question opens when you stop typing.");
    app.type("y");
    await app.waitForText("> a drafty");
    expect(app.screen.rows().filter((row) => row === "Sure?")).toEqual([]);
    app.type("\u0015");
    await app.waitForText("Sure?");
    app.type("y");
    await app.waitForText("All done.");
    expect(answers(stage)).toEqual([{ action: "accept", content: {} }]);
    await app.quit();
  });

  it("closes with the turn that Ctrl-C cancels", async () => {
    const [app] = await begin([form]);
    await app.waitForText(asked);
    app.type("\u0003");
    await app.waitForText("Cancelled.");
    await app.waitUntilIdle();
    expect(app.screen.rows().filter((row) => asked.test(row))).toEqual([]);
    await app.quit();
  });

  it("closes when the server cancels it", async () => {
    const [app] = await begin([form], { behaviour: "withdraws" });
    await app.waitForText("MCP server parrot withdrew its question.");
    await app.waitForText("All done.");
    expect(app.screen.rows().filter((row) => asked.test(row))).toEqual([]);
    await app.quit();
  });

  it("closes when the server dies", async () => {
    const [app] = await begin([elicitation("I am process {pid}.")]);
    const rows = await app.waitForText(/^│ I am process \d+\. *│$/);
    process.kill(Number(/I am process (\d+)\./.exec(rows.join("\n"))?.[1]), "SIGKILL");
    await app.waitForText("MCP server parrot withdrew its question.");
    await app.waitForText("All done.");
    expect(app.screen.rows().filter((row) => asked.test(row))).toEqual([]);
    await app.quit();
  });

  it("that asks for a secret shows a warning, and the input is neither shown nor stored", async () => {
    const secret = elicitation("Please give your API key.", { api_key: { type: "string" } });
    const [app, stage] = await begin([secret]);
    await app.waitForText("This looks like a request for a password or key.");
    app.type("y");
    await app.waitForText("1 of 1");
    app.type("hunter2hunter2");
    await app.waitForText(/> •{14} *│?$/);
    app.type("\r");
    await app.waitForText("Your answer:");
    app.type("y");
    await app.waitForText("All done.");
    await app.quit();
    expect(answers(stage)).toEqual([{ action: "accept", content: { api_key: "hunter2hunter2" } }]);
    expect([app.output().includes("hunter2"), kept(stage).includes("hunter2")]).toEqual([false, false]);
  });

  it("that is higher than the screen is printed, so that all of it can be read", async () => {
    const lines = Array.from({ length: 40 }, (_, at) => `clause ${at}.`);
    const [app] = await begin([elicitation(lines.join("\n"))], { size: { columns: 80, rows: 16 } });
    await app.waitForText("Shown in full above.");
    const everything = app.screen.scrollback();
    expect(lines.filter((line) => !everything.includes(line))).toEqual([]);
    app.type("\r");
    await app.waitForText("All done.");
    await app.quit();
  });
});

describe("a URL of an MCP server", () => {
  /** A folder with a browser program that records the URL it is to open. */
  const browser = (stage: AppFixture): string => {
    const folder = join(stage.home, "bin");
    mkdirSync(folder);
    writeFileSync(join(folder, "xdg-open"), `#!/bin/sh\nprintf '%s\\n' "$#" "$1" > "${stage.home}/opened"\n`);
    chmodSync(join(folder, "xdg-open"), 0o755);
    return folder;
  };

  it.runIf(process.platform === "linux")("is shown whole and opened unchanged, without a shell", async () => {
    const stage = await on({ script: asks(address) });
    const app = stage.start({
      args: ["--mcp-config", configure(stage)],
      env: { PATH: [browser(stage), process.env["PATH"]].join(delimiter) },
    });
    await app.waitForText(/ · \d+% of \d/);
    app.submit("go");
    await app.waitForText(asked);
    expect(rowsOf(app, asked)).toEqual([
      "MCP server parrot asks",
      "Please sign in.",
      "It asks you to open this URL:",
      opened,
      "! The URL contains a user name or password, which is not sent.",
      "  o Open it in a browser",
      "› n No",
    ]);
    const at = app.screen.rows().findIndex((row) => row.includes(opened));
    const bold = Array.from(app.screen.rows()[at] ?? "")
      .filter((_, column) => app.screen.cell(at, column).isBold)
      .join("");
    expect(bold).toBe("login.pirates.example");
    app.type("o");
    await app.waitForText(`Opened ${opened}`);
    await app.waitForText("All done.");
    expect([readFileSync(join(stage.home, "opened"), "utf8"), answers(stage)]).toEqual([
      `1\n${opened}\n`,
      [{ action: "accept" }],
    ]);
    await app.quit();
  });

  it("is printed where there is no browser, and declined by Enter alone", async () => {
    const [app, stage] = await begin([address, address], { env: { PATH: "/nowhere" } });
    await app.waitForText(asked);
    app.type("o");
    await app.waitForText(/^Could not open a browser\./);
    await app.waitForText(asked);
    app.type("\r");
    await app.waitForText("All done.");
    expect(answers(stage)).toEqual([{ action: "accept" }, { action: "decline" }]);
    await app.quit();
  });
});

describe("a sampling request of an MCP server", () => {
  it("makes one request when the user agrees; nothing of it is in the conversation", async () => {
    const [app, stage] = await begin([sampling]);
    await app.waitForText(asked);
    expect(rowsOf(app, asked)).toEqual([
      "MCP server parrot asks",
      "It wants offline/parley to answer this, at your cost, in at most 77 tokens.",
      "The answer goes to the server, not into the conversation.",
      "system:",
      "  Be a ␛[31mpirate.",
      "user:",
      "  Name a ship.",
      "user:",
      "  [image image/png, 6 bytes]",
      "  y Yes",
      "› n No",
    ]);
    app.type("y");
    await app.waitForText("MCP server parrot was answered by offline/parley.");
    await app.waitForText("All done.");
    await app.waitUntilIdle();
    expect(answers(stage)).toEqual([
      {
        model: "offline/parley",
        role: "assistant",
        content: { type: "text", text: "The Unsinkable." },
        stopReason: "endTurn",
      },
    ]);
    app.submit("/stats");
    await app.waitForText(/3 requests/);
    await app.quit();
    expect(kept(stage)).not.toContain("Unsinkable");
  });

  it("is refused by Enter alone and by Esc, and no model is asked", async () => {
    const [app, stage] = await begin([sampling, sampling]);
    await app.waitForText("1 more waiting");
    app.type("\r");
    await app.waitFor((rows) => rows.some((row) => asked.test(row)) && !rows.join().includes("more waiting"));
    app.type("\u001b");
    await app.waitForText("All done.");
    await app.waitUntilIdle();
    const refused = { code: -1, message: "The user refused this." };
    expect(answers(stage)).toEqual([refused, refused]);
    app.submit("/stats");
    await app.waitForText(/2 requests/);
    await app.quit();
  });
});

describe("for a screen reader", () => {
  it("a form, a URL and a sampling request are asked in lines", async () => {
    const [app, stage] = await begin(
      [form, sampling, elicitation("Your password?", { password: { type: "string" } })],
      {
        args: ["--screen-reader"],
        size: { columns: 160, rows: 100 },
      },
    );
    await app.waitForText("n: No. y: Answer. c: Cancel. Type a letter and Enter.");
    app.type("y\r");
    await app.waitForText("MCP server parrot asks 1 of 5: Name (required)");
    app.type("A\r");
    await app.waitForText("This must have at least 2 characters; it has 1.");
    app.type("Ada\r");
    await app.waitForText("asks 2 of 5: age");
    app.type("/back\r");
    await app.waitFor((rows) => rows.filter((row) => row.includes("asks 1 of 5")).length === 2);
    app.type("Eva\r");
    await app.waitFor((rows) => rows.filter((row) => row.includes("asks 2 of 5")).length === 2);
    app.type("7\r");
    await app.waitForText("asks 3 of 5: colour");
    app.type("2\r");
    await app.waitForText("asks 4 of 5: pets");
    app.type("1, 2\r");
    await app.waitForText("asks 5 of 5: agree");
    app.type("no\r");
    await app.waitForText("n: No, don't send. y: Yes, send it. e: Edit. c: Cancel.");
    app.type("y\r");
    await app.waitForText("n: No. y: Yes. c: Cancel. Type a letter and Enter.");
    app.type("y\r");
    await app.waitForText("Cannot be answered here: typed text stays on the screen.");
    await app.waitForText("n: No. c: Cancel. Type a letter and Enter.");
    app.type("n\r");
    await app.waitForText("All done.");
    expect(answers(stage)).toEqual(
      expect.arrayContaining([
        { action: "accept", content: { name: "Eva", age: 7, colour: "g", pets: ["c", "d"], agree: false } },
        expect.objectContaining({ content: { type: "text", text: "The Unsinkable." } }),
        { action: "decline" },
      ]),
    );
    app.type("/quit\r");
    expect((await app.ended).code).toBe(0);
    // oxlint-disable-next-line no-control-regex
    expect(app.output()).not.toMatch(/\u001b/);
  });
});

describe("without a terminal", () => {
  const run = async (
    requests: readonly Request[],
    more: object,
  ): Promise<{
    readonly lines: readonly { type: string; message?: string; stats?: { requests: number } }[];
    readonly stage: AppFixture;
  }> => {
    const stage = await on({ script: asks(...requests) });
    const words = [
      "-p",
      "go",
      "--cwd",
      stage.project,
      "--mcp-config",
      configure(stage, more),
      "--output-format",
      "stream-json",
    ];
    const ran = spawnSync(process.execPath, [bin, ...words], {
      encoding: "utf8",
      input: "",
      env: {
        PATH: process.env["PATH"],
        HOME: stage.home,
        PARLEY_OFFLINE_SCRIPT: join(stage.home, "..", "script.json"),
        METADATA_SERVER_DETECTION: "none",
        AWS_EC2_METADATA_DISABLED: "true",
      },
    });
    const lines = ran.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string; message?: string });
    expect([ran.status, existsSync(join(stage.project, "answers"))]).toEqual([0, true]);
    return { lines, stage };
  };
  const notices = (lines: readonly { type: string; message?: string }[]): readonly unknown[] =>
    lines.filter(({ type }) => type === "notice").map(({ message }) => message);

  it("requests are refused, as announced to the server, with a notice for the user", async () => {
    const { lines, stage } = await run([form, sampling], {});
    const unknown = { code: -32601, message: "Method not found" };
    expect(answers(stage)).toEqual([unknown, unknown]);
    expect(notices(lines)).toEqual([
      "The MCP server parrot asked a question. There is no person to ask, so it was refused.",
      "The MCP server parrot asked to use a model. There is no person to ask, so it was refused.",
    ]);
  });

  it("a server with sampling allowed gets an answer without asking, and it is counted", async () => {
    const { lines, stage } = await run([sampling], { sampling: "allow" });
    expect(answers(stage)).toEqual([
      expect.objectContaining({ role: "assistant", content: { type: "text", text: "The Unsinkable." } }),
    ]);
    expect(notices(lines)).toContain("The MCP server parrot was answered by offline/parley.");
    expect(JSON.stringify(lines.at(-1))).toMatch(/"requests":3/);
    expect(kept(stage)).not.toContain("Unsinkable");
  });
});
