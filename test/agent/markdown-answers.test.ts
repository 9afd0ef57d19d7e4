import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensureBuilt } from "../built.ts";
import { openProgramStage, type ProgramStage } from "../support/agent-program.ts";
import { sampleCases } from "../support/tier.ts";

/* Answers of odd but progressing Markdown, from the model to the end of the program. */

const lines = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => line(at)).join("\n");

const answers: { readonly [name: string]: string } = {
  "deeply nested lists": lines(400, (at) => `${"  ".repeat(at % 200)}- item ${at}`),
  "deeply nested quotes": lines(300, (at) => `${"> ".repeat(at)}quote ${at}`),
  "thousands of similar list items": lines(4000, (at) => `- [ ] Check the value of field ${at} in the form.`),
  "thousands of numbered items": lines(4000, (at) => `${at + 1}. The same sentence in every item.`),
  "a table with thousands of rows": `| id | name | active |\n|---|---|---|\n${lines(4000, (at) => `| ${at} | An item | true |`)}`,
  "a table with hundreds of columns": `|${" a |".repeat(400)}\n|${"---|".repeat(400)}\n${lines(20, (at) => `|${` ${at} |`.repeat(400)}`)}`,
  "hundreds of fences": lines(600, (at) => `\`\`\`js\nconst value${at} = ${at};\n\`\`\`\n`),
  "fences inside fences": lines(60, (at) => `${"`".repeat(3 + at)}md\ntext ${at}\n${"`".repeat(3 + at)}`),
  "an open fence": `\`\`\`json\n${lines(3000, (at) => `{ "id": ${at}, "name": "item", "tags": [] },`)}`,
  "a log of similar lines": `\`\`\`\n${lines(4000, (at) => `2026-01-01T00:00:${at % 60} INFO worker ${at} started`)}\n\`\`\``,
  imports: `\`\`\`ts\n${lines(2000, (at) => `import { thing${at} } from "./things/thing${at}.ts";`)}\n\`\`\``,
  "emphasis that never closes": lines(500, (at) => `${"*".repeat(1 + (at % 40))}word ${at}`),
  "open brackets": `${"[".repeat(5000)}a${"](b)".repeat(20)}`,
  "nested brackets and pictures": lines(300, (at) => `![a${at}](${"(".repeat(at % 50)}x${")".repeat(at % 50)})`),
  html: lines(2000, (at) => `<div class="row"><span>${at}</span></div>`),
  "a page of headings": lines(1500, (at) => `${"#".repeat(1 + (at % 6))} Heading ${at}\n`),
  "footnotes and references": lines(1500, (at) => `[${at}]: https://example.com/page/${at}`),
  "one line of 200,000 letters": lines(1, () => Array.from({ length: 20_000 }, (_, at) => `word${at} `).join("")),
};

let stage: ProgramStage;

beforeAll(async () => {
  ensureBuilt();
  stage = await openProgramStage(["anthropic"], {
    script: ({ turns }) => {
      const prompt = turns.findLast((turn) => turn.by === "user");
      const name = Object.keys(answers).find((each) => prompt?.by === "user" && prompt.text.includes(`<${each}>`));
      return { parts: [{ type: "say", text: answers[name ?? ""] ?? "Nothing of the kind." }] };
    },
  });
});

afterAll(() => stage.close());

describe("an answer in unusual Markdown", () => {
  it.each(sampleCases(Object.keys(answers), 4))("is not stopped as a repetition: %s", async (name) => {
    const { code, out, err } = await stage.run(["-m", "anthropic", "-p", `Write <${name}>.`]);
    expect([code, err]).toEqual([0, ""]);
    expect(out.trimEnd()).toBe(answers[name]?.trimEnd());
  });
});
