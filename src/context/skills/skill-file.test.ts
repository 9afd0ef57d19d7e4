import { describe, expect, it } from "vitest";
import { fillSkill } from "./activation.ts";
import { parseFrontMatter } from "../front-matter.ts";
import { parseSkillFile } from "./skill-file.ts";

const file = (front: string, body = "Do it."): string => `---\n${front}\n---\n${body}\n`;

describe("front matter", () => {
  it.each<[string, unknown]>([
    ["name: pdf\ndescription: Reads: and writes PDFs", { name: "pdf", description: "Reads: and writes PDFs" }],
    [`description: "With #quotes"\nflag: true`, { description: "With #quotes", flag: true }],
    ["description: >\n  Two\n  lines", { description: "Two lines\n" }],
    ["metadata:\n  author: someone\n  version: '1'", { metadata: { author: "someone", version: "1" } }],
    ["allowed-tools: [Read, Bash]", { "allowed-tools": ["Read", "Bash"] }],
    ["effort: 3", { effort: 3 }],
    [
      'tools: [Read]\ndescription: Use it when: "x" fails. Example:\\n<a>\neffort: 3',
      { tools: ["Read"], description: 'Use it when: "x" fails. Example:\\n<a>', effort: "3" },
    ],
    ["# a comment\nname: pdf # its name", { name: "pdf" }],
    [
      'name: maker\ndescription: Use it to "make". Examples:\n\n<example>\nuser: "Make it"\n</example>\n\nmodel: sonnet\ntools: ["Read", "Grep"]',
      {
        name: "maker",
        description: 'Use it to "make". Examples:\n\n<example>\nuser: "Make it"\n</example>',
        model: "sonnet",
        tools: ["Read", "Grep"],
      },
    ],
  ])("is read as YAML, and leniently where YAML is not: %j", async (front, fields) => {
    expect(await parseFrontMatter(front)).toEqual(fields);
  });
});

describe("a skill file", () => {
  it("follows the specification", async () => {
    const text = file("name: pdf\ndescription: Reads PDFs.\nlicense: MIT\nargument-hint: FILE");
    expect(await parseSkillFile(text, "pdf")).toEqual({
      name: "pdf",
      description: "Reads PDFs.",
      isForModels: true,
      isForPeople: true,
      usage: "FILE",
      body: "Do it.",
      problems: [],
    });
  });

  it.each<[string, string, string]>([
    ["no front matter", "Just text.", "its front matter is missing"],
    ["no description", file("name: pdf"), "it has no description"],
    ["broken YAML", file("name: [pdf\ndescription: x"), "its front matter is not valid YAML"],
    ["a bad folder and no name", file("description: x"), '"pd\u0444" is not a valid skill name'],
    ["letters that look like others", file("name: p\u0430y\ndescription: x"), '"pd\u0444" is not a valid skill name'],
  ])("is not used with %s", async (_, text, problem) => {
    expect(await parseSkillFile(text, "pd\u0444")).toEqual({ problem: expect.stringContaining(problem) as string });
  });

  it.each<[string, string, string]>([
    ["name: code_explorer", "code_explorer", "code_explorer"],
    ["name: Code", "code", "Code"],
    ["name: My Skill", "my-skill", "my-skill"],
    ["license: MIT", "My Skill", "my-skill"],
    [`name: ${"x".repeat(65)}`, "long", "long"],
  ])("is used with a name that other agents accept: %s in %s", async (front, folderName, name) => {
    expect(await parseSkillFile(file(`${front}\ndescription: x`), folderName)).toMatchObject({
      name,
      problems: [{ severity: "error" }],
    });
  });

  it.each([
    ["name: \u6280\u80fd\ndescription: x", "\u6280\u80fd"],
    [
      "name: \u043c\u043e\u0439-\u043d\u0430\u0432\u044b\u043a\ndescription: x",
      "\u043c\u043e\u0439-\u043d\u0430\u0432\u044b\u043a",
    ],
    ["name: pdf\ndescription: x\nmetadata:\n  version: 1.0\n  beta: true", "pdf"],
  ])("is valid where the reference validator says so: %j", async (front, name) => {
    expect(await parseSkillFile(file(front), name)).toMatchObject({ name, problems: [] });
  });

  it("needs no body, as in the minimal example of the specification", async () => {
    expect(await parseSkillFile("---\nname: pdf\ndescription: x\n---\n", "pdf")).toMatchObject({
      problems: [{ severity: "warning", message: "The body is empty." }],
    });
  });

  it.each<[string, string]>([
    ["name: other\ndescription: x", 'error: name is "other", but the folder is "pdf".'],
    ["description: x", "error: name is missing."],
    ["name: PDF\ndescription: x", "error: name must have 1 to 64 lower-case letters, digits and single hyphens."],
    [`name: pdf\ndescription: ${"x".repeat(1025)}`, "error: description has 1025 characters; the limit is 1024."],
    ["name: pdf\ndescription: x\nmetadata: [1]", "error: metadata must map names to texts."],
    [
      "name: pdf\ndescription: x\nallowed-tools: Bash",
      "warning: allowed-tools grants nothing: tool calls need approval as usual.",
    ],
    ["name: pdf\ndescription: x\nmodel: opus", "warning: model is ignored: a skill runs on the session's model."],
    ["name: pdf\ndescription: x\ncolour: red", "warning: colour is unknown and ignored."],
  ])("says what is wrong: %j", async (front, expected) => {
    const parsed = await parseSkillFile(file(front), "pdf");
    const problems = "problem" in parsed ? [] : parsed.problems;
    expect(problems.map(({ severity, message }) => `${severity}: ${message}`)).toEqual([expected]);
  });

  it("has a description without escape sequences and invisible characters", async () => {
    const parsed = await parseSkillFile(file("name: pdf\ndescription: Reads \u{E0041}\u001B[2JPDFs."), "pdf");
    expect(["\u001B", "\u{E0041}"].filter((hidden) => JSON.stringify(parsed).includes(hidden))).toEqual([]);
    expect(parsed).toMatchObject({ description: expect.stringMatching(/^Reads .*PDFs\.$/) as string });
  });

  it("can be for people alone, or for models alone", async () => {
    const front = "name: pdf\ndescription: x\n";
    expect(await parseSkillFile(file(`${front}disable-model-invocation: true`), "pdf")).toMatchObject({
      isForModels: false,
      isForPeople: true,
    });
    expect(await parseSkillFile(file(`${front}user-invocable: false`), "pdf")).toMatchObject({
      isForModels: true,
      isForPeople: false,
    });
  });
});

describe("the instructions of a skill", () => {
  const skill = { folder: "/skills/pdf" };
  it.each<[string, string, string]>([
    ["Use $ARGUMENTS.", "a b", "Use a b."],
    ["Use $0 and $ARGUMENTS[1].", `"a b" c`, "Use a b and c."],
    ["Run ${CLAUDE_SKILL_DIR}/x.", "", "Run /skills/pdf/x."],
    ["Session ${CLAUDE_SESSION_ID}.", "", "Session s1."],
    ["No place.", "a b", "No place.\n\nArguments: a b"],
    ["Costs $100.", "", "Costs $100."],
    ["Take $0.", "$ARGUMENTS", "Take $ARGUMENTS."],
  ])("are filled and sanitized: %j", (body, given, expected) => {
    const filled = fillSkill(file("name: pdf\ndescription: x", body), skill, { arguments: given, session: "s1" });
    expect(filled).toBe(expected);
  });

  it("contain no escape sequences and no invisible characters", () => {
    const hidden = ["\u001B", "\u{E0041}"];
    const filled = fillSkill(`Hidden ${hidden.join("tag")}[2Jscreen.`, skill, { session: "s1" });
    expect(hidden.filter((character) => filled.includes(character))).toEqual([]);
  });
});
