import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ModelFunction } from "../../src/sim/family.ts";
import { ensureBuilt } from "../built.ts";
import { openProgramStage, type ProgramStage } from "../support/agent-program.ts";
import { runCommand } from "../support/run-command.ts";

/** Activates the skill a prompt names, then repeats what came back. */
const speak: ModelFunction = ({ turns }) => {
  const results = turns.flatMap((turn) => (turn.by === "tools" ? turn.results : []));
  const prompt = turns.findLast((turn) => turn.by === "user")?.text ?? "";
  const [, file] = /Read (\S+)/.exec(prompt) ?? [];
  if (results.length > 0) return { parts: [{ type: "say", text: `Got: ${JSON.stringify(results.at(-1))}` }] };
  if (file !== undefined) return { parts: [{ type: "call", tool: "read_file", input: { path: file } }] };
  const [, name] = /Use (\S+)/.exec(prompt) ?? [];
  if (name === undefined) return { parts: [{ type: "say", text: "Nothing." }] };
  return { parts: [{ type: "call", tool: "activate_skill", input: { name, arguments: "now" } }] };
};

let stage: ProgramStage;
beforeAll(async () => {
  ensureBuilt();
  stage = await openProgramStage(["anthropic"], { script: speak });
});
beforeEach(() => {
  for (const folder of [stage.home, stage.project])
    for (const name of [".agents", ".claude"]) rmSync(join(folder, name), { recursive: true, force: true });
  stage.modelRequests.splice(0);
  stage.log.splice(0);
});
afterAll(() => stage.close());

const addSkill = (folder: string, text: string): string => {
  mkdirSync(join(folder, "scripts"), { recursive: true });
  writeFileSync(join(folder, "SKILL.md"), text);
  writeFileSync(join(folder, "scripts", "run.sh"), "echo from the skill\n");
  return folder;
};
const pdf = "---\nname: pdf\ndescription: Works with PDF files.\n---\nFill forms with $ARGUMENTS. !`touch ran`\n";
const run = (prompt: string, ...more: readonly string[]): ReturnType<ProgramStage["run"]> =>
  stage.run(["-p", prompt, "-m", "anthropic", ...more]);
const system = (): string => JSON.stringify(stage.log[0]?.entry.body);

describe("a skill", () => {
  it("of the user is in the prompt, is activated by the model without approval, and runs nothing", async () => {
    const folder = addSkill(join(stage.home, ".claude", "skills", "pdf"), pdf);
    const { code, out } = await run("Use pdf");
    expect(code).toBe(0);
    expect(system()).toContain("- pdf: Works with PDF files.");
    for (const text of ["Fill forms with now.", "scripts/run.sh", folder, "were not run"]) expect(out).toContain(text);
    expect((await run("Read ran")).out).toContain("There is no file");
  });

  it("has files that tools can read, and nothing else around it", async () => {
    const folder = addSkill(join(stage.home, ".claude", "skills", "pdf"), pdf);
    writeFileSync(join(stage.home, ".claude", "secret.json"), "{}");
    expect((await run(`Read ${join(folder, "scripts", "run.sh")}`)).out).toContain("echo from the skill");
    expect((await run(`Read ${join(stage.home, ".claude", "secret.json")}`)).out).toContain("is outside the workspace");
    expect((await run(`Read ${join(folder, "..", "..", "secret.json")}`)).out).toContain("is outside the workspace");
  });

  it("of a project is inert until the folder is trusted", async () => {
    addSkill(join(stage.project, ".agents", "skills", "pdf"), pdf);
    const first = await run("Use pdf");
    expect(first.out).toContain("There is no tool");
    expect(first.err).toContain(".agents is not read. parley trust changes that.");
    expect(system()).not.toContain("Works with PDF files.");
    await stage.run(["trust"]);
    expect((await run("Use pdf")).out).toContain("Fill forms with now.");
    await stage.run(["trust", "--remove"]);
  });

  it("that appears or goes later leads to a notice; the head of the requests stays the same", async () => {
    const folder = addSkill(join(stage.home, ".agents", "skills", "pdf"), pdf);
    await run("Hello");
    const before = stage.log[0]?.entry.body as { system: unknown; tools: unknown };
    rmSync(folder, { recursive: true });
    addSkill(join(stage.home, ".agents", "skills", "csv"), pdf.replaceAll("pdf", "csv"));
    stage.log.splice(0);
    await run("Hello again", "--continue");
    const after = stage.log[0]?.entry.body as {
      system: unknown;
      tools: unknown;
      messages: unknown;
    };
    expect({ system: after.system, tools: after.tools }).toEqual({ system: before.system, tools: before.tools });
    stage.log.splice(0);
    await run("Hello once more", "--continue");
    expect(JSON.stringify(stage.log[0]?.entry.body).match(/New skills/g)).toHaveLength(1);
    expect(JSON.stringify(after.messages)).toMatch(/New skills .*- csv .*no longer exist: pdf\./);
  });

  it("of three hundred is announced once: in the system prompt, or not at all", async () => {
    for (let index = 0; index < 300; index++)
      addSkill(join(stage.home, ".agents", "skills", `pdf-${index}`), pdf.replace("name: pdf", `name: pdf-${index}`));
    await run("Hello");
    expect(system()).toMatch(/\d+ more skills are not listed/);
    expect(system()).not.toContain("New skills");
  });

  it("costs nothing where there is none: no tool, no text", async () => {
    await run("Hello");
    expect(system()).not.toMatch(/skill/i);
  });
});

describe("parley skills", () => {
  const skills = (...args: readonly string[]): ReturnType<typeof runCommand> =>
    runCommand(["skills", ...args], { cwd: stage.project, env: stage.env });

  it("lists skills and says which are not used", async () => {
    addSkill(join(stage.home, ".agents", "skills", "pdf"), pdf);
    addSkill(join(stage.home, ".claude", "skills", "pdf"), pdf);
    const { code, out, err } = await skills("list");
    expect({ code, out }).toEqual({ code: 0, out: "pdf  user  ~/.agents/skills/pdf    Works with PDF files.\n" });
    expect(err).toContain("~/.claude/skills/pdf is not used: ~/.agents/skills/pdf has the same name.");
    expect(JSON.parse((await skills("list", "--json")).out)).toMatchObject({
      skills: [{ name: "pdf", source: "user" }],
    });
  });

  it("shows one, and suggests a name for a mistyped one", async () => {
    addSkill(join(stage.home, ".agents", "skills", "pdf"), pdf);
    expect((await skills("show", "pdf")).out).toContain("Fill forms with $ARGUMENTS.");
    expect(await skills("show", "pfd")).toMatchObject({
      code: 1,
      err: expect.stringContaining("Did you mean pdf?") as string,
    });
  });

  it("checks against the specification", async () => {
    const folder = addSkill(
      join(stage.home, ".agents", "skills", "csv"),
      pdf.replace("---\nFill", "model: x\n---\nFill"),
    );
    const { code, out } = await skills("check", folder);
    expect({ code, out }).toEqual({
      code: 1,
      out: `${folder}\n  error: name is "pdf", but the folder is "csv".\n  warning: model is ignored: a skill runs on the session's model.\n`,
    });
    expect(await skills("check", join(stage.home, "nowhere"))).toMatchObject({ code: 1 });
  });
});
