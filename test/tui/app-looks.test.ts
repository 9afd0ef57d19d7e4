import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { ensureBuilt } from "../built.ts";
import { appFixtures, normalizeScreen } from "./app-fixture.ts";

ensureBuilt();
const { started } = appFixtures();
const folder = fileURLToPath(new URL("looks/", import.meta.url));

const dark = { COLORTERM: "truecolor" };

const looks: readonly { readonly name: string; readonly columns: number; readonly env: Record<string, string> }[] = [
  { name: "dark-40", columns: 40, env: dark },
  { name: "dark-80", columns: 80, env: dark },
  { name: "dark-120", columns: 120, env: dark },
  { name: "light-80", columns: 80, env: { ...dark, COLORFGBG: "0;15" } },
  { name: "sixteen-80", columns: 80, env: { TERM: "xterm" } },
  { name: "no-color-80", columns: 80, env: { NO_COLOR: "1" } },
  { name: "tmux-80", columns: 80, env: { TERM: "tmux-256color", TMUX: "/tmp/tmux-1/default,1,0" } },
];

const script = {
  rules: [
    {
      prompt: "friendlier",
      replies: [
        {
          call: {
            tool: "replace",
            input: { file_path: "greeting.js", old_string: "Hello world.", new_string: "Hello, dear world!" },
          },
        },
        { say: "It is **friendlier** now." },
      ],
    },
  ],
};

describe("the look of the terminal app", () => {
  it.each(looks)("$name", async ({ name, columns, env }) => {
    const [app, { project }] = await started({
      files: { "greeting.js": '// Said first.\nexport const greeting = "Hello world.";\n' },
      args: ["--approval-mode", "auto_edit"],
      size: { columns, rows: 30 },
      env,
      script,
    });
    app.submit("make the greeting friendlier, please, and keep it as short as it is now");
    await app.waitForText("It is friendlier now.");
    await app.waitUntilIdle();
    app.type("?");
    await app.waitFor(
      (rows) => rows.some((row) => row.includes("all commands")) && rows.at(-1)?.endsWith(" auto_edit") === true,
    );
    const screen = `${normalizeScreen(app.screen.styledRows().join("\n"), project)}\n`;
    await expect(screen).toMatchFileSnapshot(`${folder}${name}.txt`);
    app.type("?");
    await app.waitUntilIdle();
    await app.quit();
  });
});
