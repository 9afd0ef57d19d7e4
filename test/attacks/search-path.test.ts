import { chmodSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { modes, openAttackFixture, type AttackFixture } from "./fixture.ts";

/* A search path that leads into the workspace, as npx and npm run make it: what stands there is not run unasked. */

let stage: AttackFixture;

beforeEach(() => {
  stage = openAttackFixture();
  stage.put("README.md", "x\n");
  for (const name of ["bash", "sh", "bwrap", "git"])
    stage.put(`node_modules/.bin/${name}`, stage.fill('#!/bin/sh\ntouch {CANARY}\nexec /bin/bash "$@"\n'), 0o755);
  stage.put("node_modules/.bin/tool", "#!/bin/sh\necho the tool ran\n", 0o755);
  symlinkSync(join(stage.root, "node_modules/.bin"), join(stage.out, "bin"));
});

afterEach(() => stage.close());

const paths = {
  "inside the workspace": "{WS}/node_modules/.bin:/usr/bin:/bin",
  "by a link from outside": "{OUT}/bin:/usr/bin:/bin",
  "by a way back": "{WS}/../ws/node_modules/.bin:/usr/bin:/bin",
  relative: "node_modules/.bin:./node_modules/.bin:/usr/bin:/bin",
} as const;

const env = (path: string) => ({ env: { PATH: stage.fill(path) } });

describe("a search path that leads into the workspace", () => {
  it.each(Object.entries(paths))("gives nobody its shell: %s", async (_, path) => {
    for (const mode of [modes.interactive, modes.headless, modes.yolo, { mode: "plan" } as const]) {
      const told = await stage.run("run_shell_command", { command: "cat README.md" }, { ...mode, ...env(path) });
      expect([told.verdict, told.text.includes("x"), stage.hasMark()]).toEqual(["allow", true, false]);
    }
  });

  it.each(Object.entries(paths))("gives nobody its sandbox: %s", async (_, path) => {
    const options = { ...modes.interactive, ...env(path), sandbox: "wanted" } as const;
    await stage.run("run_shell_command", { command: "cat README.md" }, options);
    expect(stage.hasMark()).toBe(false);
  });

  it("is asked about where a command would come from there", async () => {
    const told = await stage.run("run_shell_command", { command: "git status" }, env(paths["inside the workspace"]));
    expect([told.verdict, stage.hasMark()]).toEqual(["ask", false]);
  });

  it("is not what commands find that nobody was asked about", async () => {
    const path = env(paths["inside the workspace"]);
    const unasked = await stage.run("run_shell_command", { command: "command -v tool || echo none" }, path);
    expect([unasked.verdict, unasked.text.includes("none")]).toEqual(["allow", true]);
  });

  it("stays what it is for commands the person agrees to, and where everything runs", async () => {
    const path = env(paths["inside the workspace"]);
    const agreed = { ...modes.interactive, ...path, answer: () => ({ type: "once" }) as const };
    const asked = await stage.run("run_shell_command", { command: "tool" }, agreed);
    expect([asked.verdict, asked.text.includes("the tool ran")]).toEqual(["ask", true]);
    const yolo = await stage.run("run_shell_command", { command: "tool" }, { ...modes.yolo, ...path });
    expect([yolo.verdict, yolo.text.includes("the tool ran")]).toEqual(["allow", true]);
  });

  it("may not be for everybody to write in either", async () => {
    const open = join(stage.base, "open");
    mkdirSync(open);
    stage.put("../open/bash", stage.fill("#!/bin/sh\ntouch {CANARY}\n"), 0o755);
    chmodSync(open, 0o777);
    await stage.run("run_shell_command", { command: "cat README.md" }, env(`${open}:/usr/bin:/bin`));
    expect(stage.hasMark()).toBe(false);
    rmSync(open, { recursive: true });
  });
});
