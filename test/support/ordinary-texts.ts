import type { Random } from "./random.ts";

/** Kinds of text that models write all day and whose lines look alike. Each makes about `lines` lines. */
export const ordinaryTexts: { readonly [kind: string]: (lines: number, random: Random) => string } = {
  "JSON records": (lines, random) =>
    JSON.stringify(
      times(lines / 6, (at) => ({ id: at, name: `item-${at}`, active: random.chance(0.5), tags: [], price: 10 })),
      null,
      2,
    ),
  "JSON without changes but a number": (lines) =>
    times(lines, (at) => `  { "x": 0, "y": 0, "visible": true, "label": "", "index": ${at} },`).join("\n"),
  "JSON lines": (lines) => times(lines, (at) => `{"level":"info","seq":${at},"message":"ok"}`).join("\n"),
  "an HTML table": (lines) =>
    times(lines, (at) => `  <tr><td class="cell">${at}</td><td class="cell"></td><td class="cell"></td></tr>`).join(
      "\n",
    ),
  "an HTML board of equal cells": (lines) => times(Math.min(lines, 900), () => '<div class="cell"></div>').join("\n"),
  "an HTML list": (lines) => times(lines, (at) => `<li><a href="/page/${at}">Page ${at}</a></li>`).join("\n"),
  XML: (lines) => times(lines, (at) => `<entry key="k${at}"><value>0</value><unit>ms</unit></entry>`).join("\n"),
  "an SVG path": (lines) => `<path d="M0 0 ${times(lines * 3, (at) => `L${at} ${(at * 7) % 100}`).join(" ")}"/>`,
  "SVG bars of one height": (lines) =>
    times(lines, (at) => `<rect x="${at * 10}" y="0" width="10" height="100" fill="#336699"/>`).join("\n"),
  CSV: (lines) => `id,name,value,flag\n${times(lines, (at) => `${at},row,0.0,true`).join("\n")}`,
  "CSV with empty rows": (lines) => times(lines, () => ",,,,,,,,,").join("\n"),
  "a log": (lines) =>
    times(lines, (at) => `2026-01-01T00:00:${String(at % 60).padStart(2, "0")}.${at}Z INFO request done in 3 ms`).join(
      "\n",
    ),
  "a log of one error": (lines) =>
    times(Math.min(lines, 150), () => "ERROR: connect ECONNREFUSED 127.0.0.1:5432").join("\n"),
  imports: (lines) =>
    times(lines, (at) => `import { Component${at} } from "./components/Component${at}.js";`).join("\n"),
  exports: (lines) => times(lines, (at) => `export * from "./generated/module-${at}.js";`).join("\n"),
  "test cases": (lines) =>
    times(lines / 3, (at) => `it("adds ${at}", () => {\n  expect(add(${at}, 1)).toBe(${at + 1});\n});`).join("\n"),
  "equal assertions": (lines) =>
    times(Math.min(lines, 250), () => "  assert_eq!(parse(input), Ok(expected));").join("\n"),
  "SQL inserts": (lines) =>
    times(lines, (at) => `INSERT INTO users (id, name, email) VALUES (${at}, NULL, NULL);`).join("\n"),
  "one SQL insert of many rows": (lines) =>
    `INSERT INTO t VALUES\n${times(lines, () => "  (NULL, NULL, 0, 0)").join(",\n")};`,
  "a numbered list": (lines) =>
    times(lines, (at) => `${at + 1}. Open the file, change the value and save it.`).join("\n"),
  "a list of tasks": (lines) =>
    times(lines, (at) => `- [ ] Check chapter ${at + 1} for spelling and grammar.`).join("\n"),
  "a Markdown table": (lines) =>
    `| n | square |\n| --- | --- |\n${times(lines, (at) => `| ${at} | ${at * at} |`).join("\n")}`,
  "a Markdown table without values": (lines) => times(Math.min(lines, 400), () => "|   |   |   |   |   |").join("\n"),
  separators: (lines) => times(lines, () => "=".repeat(80)).join("\n"),
  "one long line of dashes": (lines) => "-".repeat(lines * 40),
  "a matrix of zeros": (lines) => `[${times(lines, () => `[${times(20, () => "0").join(", ")}]`).join(",\n")}]`,
  "bytes of zero": (lines) => times(lines, () => "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00").join("\n"),
  base64: (lines, random) => times(lines, () => letters(76, random)).join("\n"),
  "base64 of zeros": (lines) => "A".repeat(lines * 60),
  "minified code": (lines) => times(lines * 2, (at) => `function f${at}(a,b){return a+b*${at}}`).join(";"),
  "a diff": (lines) => times(lines / 2, (at) => `-const value${at} = 1;\n+const value${at} = 2;`).join("\n"),
  YAML: (lines) => times(lines / 3, (at) => `- name: job-${at}\n  runs-on: ubuntu-latest\n  steps: []`).join("\n"),
  "a Dockerfile": (lines) =>
    times(lines, (at) => `RUN apt-get install -y package-${at} && rm -rf /var/lib/apt/lists/*`).join("\n"),
  CSS: (lines) => times(lines / 4, (at) => `.m-${at} {\n  margin: ${at}px;\n  padding: 0;\n}`).join("\n"),
  "a switch": (lines) => times(lines / 2, (at) => `    case ${at}:\n      return "${at}";`).join("\n"),
  "ASCII art": (lines) => times(lines, (at) => `|${" ".repeat(at % 40)}*${" ".repeat(39 - (at % 40))}|`).join("\n"),
  "a calendar": (lines) => times(lines, (at) => `Mo Tu We Th Fr Sa Su  ${at}`).join("\n"),
  "a song": () =>
    times(99, (at) => `${99 - at} bottles of beer on the wall, take one down, pass it around.`).join("\n"),
  "placeholder text": () => times(20, () => lorem).join("\n\n"),
  translations: (lines) => times(lines, (at) => `"key.${at}": "Please wait while the page is loading.",`).join("\n"),
  "logs in Chinese": (lines) => times(lines, (at) => `第${at}步：检查文件内容并保存结果。`).join("\n"),
  "a phone book": (lines, random) => times(lines, () => `Smith, John ... ${random.below(1e9)}`).join("\n"),
};

const lorem =
  "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore et dolore magna aliqua. Ut enim ad minim veniam, quis nostrud exercitation ullamco laboris nisi ut aliquip ex ea commodo consequat.";

const times = <Item>(count: number, make: (at: number) => Item): readonly Item[] =>
  Array.from({ length: Math.ceil(count) }, (_, at) => make(at));

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const letters = (count: number, random: Random): string =>
  times(count, () => alphabet[random.below(alphabet.length)] ?? "A").join("");
