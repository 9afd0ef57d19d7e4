import { chmodSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { modes, openAttackFixture, type AttackFixture } from "./fixture.ts";

/* A search path that leads into the workspace, as with npx and npm run: programs there do not run without approval. */

let fixture: AttackFixture;

beforeEach(() => {
  fixture = openAttackFixture();
  fixture.put("README.md", "x\n");
  for (const name of ["bash", "sh", "bwrap", "git"])
    fixture.put(`node_modules/.bin/${name}`, fixture.fill('#!/bin/sh\ntouch {CANARY}\nexec /bin/bash "$@"\n'), 0o755);
  fixture.put("node_modules/.bin/tool", "#!/bin/sh\necho the tool ran\n", 0o755);
  symlinkSync(join(fixture.root, "node_modules/.bin"), join(fixture.out, "bin"));
});

afterEach(() => fixture.close());

const paths = {
  "inside the workspace": "{WS}/node_modules/.bin:/usr/bin:/bin",
  "by a link from outside": "{OUT}/bin:/usr/bin:/bin",
  "by a way back": "{WS}/../ws/node_modules/.bin:/usr/bin:/bin",
  relative: "node_modules/.bin:./node_modules/.bin:/usr/bin:/bin",
} as const;

const env = (path: string) => ({ env: { PATH: fixture.fill(path) } });

describe("a search path that leads into the workspace", () => {
  it.each(Object.entries(paths))("does not provide the shell: %s", async (_, path) => {
    for (const mode of [modes.interactive, modes.headless, modes.yolo, { mode: "plan" } as const]) {
      const result = await fixture.run("run_shell_command", { command: "cat README.md" }, { ...mode, ...env(path) });
      expect([result.verdict, result.text.includes("x"), fixture.hasMark()]).toEqual(["allow", true, false]);
    }
  });

  it.each(Object.entries(paths))("does not provide the sandbox: %s", async (_, path) => {
    const options = { ...modes.interactive, ...env(path), sandbox: "wanted" } as const;
    await fixture.run("run_shell_command", { command: "cat README.md" }, options);
    expect(fixture.hasMark()).toBe(false);
  });

  it("needs approval if a command is found there", async () => {
    const result = await fixture.run(
      "run_shell_command",
      { command: "git status" },
      env(paths["inside the workspace"]),
    );
    expect([result.verdict, fixture.hasMark()]).toEqual(["ask", false]);
  });

  it("is not the PATH of commands that run without approval", async () => {
    const path = env(paths["inside the workspace"]);
    const unasked = await fixture.run("run_shell_command", { command: "command -v tool || echo none" }, path);
    expect([unasked.verdict, unasked.text.includes("none")]).toEqual(["allow", true]);
  });

  it("is unchanged for approved commands, and in yolo mode", async () => {
    const path = env(paths["inside the workspace"]);
    const agreed = { ...modes.interactive, ...path, answer: () => ({ type: "once" }) as const };
    const asked = await fixture.run("run_shell_command", { command: "tool" }, agreed);
    expect([asked.verdict, asked.text.includes("the tool ran")]).toEqual(["ask", true]);
    const yolo = await fixture.run("run_shell_command", { command: "tool" }, { ...modes.yolo, ...path });
    expect([yolo.verdict, yolo.text.includes("the tool ran")]).toEqual(["allow", true]);
  });

  it("may not be world-writable either", async () => {
    const open = join(fixture.base, "open");
    mkdirSync(open);
    fixture.put("../open/bash", fixture.fill("#!/bin/sh\ntouch {CANARY}\n"), 0o755);
    chmodSync(open, 0o777);
    await fixture.run("run_shell_command", { command: "cat README.md" }, env(`${open}:/usr/bin:/bin`));
    expect(fixture.hasMark()).toBe(false);
    rmSync(open, { recursive: true });
  });
});
