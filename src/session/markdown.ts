import type { Entry } from "../conversation/entry.ts";
import type { Call, Content, Media, OutcomeStatus, Part, UserPart } from "../conversation/parts.ts";
import type { Saved } from "./load.ts";
import { summaryOf } from "./summary.ts";

/** A session to be read: who said what, thinking folded away, calls with their arguments and results. */
export const markdownOf = (session: Saved): string => {
  const { title, models } = summaryOf(session);
  const { head, entries } = session;
  const facts = [
    `Session ${session.id}`,
    ...(head.root === "" ? [] : [`in \`${head.root}\``]),
    `begun ${new Date(head.created).toISOString()}`,
    ...(models.length === 0 ? [] : [`with ${models.join(", ")}`]),
  ];
  const start = [`# ${inLine(title === "" ? session.id : title)}`, `${facts.join(", ")}.`];
  return `${[...start, ...entries.flatMap(entryBlocks)].join("\n\n")}\n`;
};

const entryBlocks = (entry: Entry): readonly string[] => {
  switch (entry.type) {
    case "user":
      return ["## You", ...entry.parts.map(partBlock)];
    case "model":
      return [`## ${inLine(`${entry.origin.provider}/${entry.origin.model}`)}`, ...entry.parts.map(partBlock)];
    case "completion":
      return [
        `**Result of ${inLine(entry.tool)}** (${endings[entry.outcome.status]}, \`${entry.call}\`)`,
        ...entry.outcome.content.map(contentBlock),
      ];
    case "compaction":
      return ["## Summary of what came before", entry.summary];
    case "notice":
      return entry.text === "" ? [] : [`> ${entry.text.replaceAll("\n", "\n> ")}`];
    case "copy":
      return [`> ${inLine(entry.uri)} was fetched.`, contentBlock(entry.media)];
  }
};

const endings: Readonly<Record<OutcomeStatus, string>> = {
  complete: "complete",
  error: "failed",
  cancelled: "cancelled",
  interrupted: "interrupted",
};

const partBlock = (part: Part | UserPart): string => {
  switch (part.type) {
    case "text":
      return part.text;
    case "thinking":
      return `<details><summary>Thinking</summary>\n\n${part.text}\n\n</details>`;
    case "code":
      return fenced(part.text, part.language);
    case "media":
      return mediaLine(part);
    case "call":
      return callBlock(part);
  }
};

const callBlock = ({ tool, id, input }: Call): string => {
  const [text, language] = input.type === "parsed" ? [JSON.stringify(input.value, null, 2), "json"] : [input.text, ""];
  return `**Call of ${inLine(tool)}** (\`${id}\`)\n\n${fenced(text, language)}`;
};

const contentBlock = (part: Content): string => {
  switch (part.type) {
    case "text":
      return fenced(part.text, "");
    case "structured":
      return fenced(JSON.stringify(part.value, null, 2), "json");
    case "media":
      return mediaLine(part);
  }
};

const mediaLine = ({ kind, id, name, mimeType, source }: Media): string => {
  const facts = `${kind} ${id}${name === undefined ? "" : ` "${inLine(name)}"`}, ${mimeType}`;
  return source.type === "uri"
    ? `[${facts}](<${source.uri.replaceAll(/[<>\s]/g, encodeURIComponent)}>)`
    : `*${facts}, ${source.bytes} bytes: [blobs/${source.hash.slice(0, 12)}…](blobs/${source.hash})*`;
};

/** A fence longer than any the text holds, so that nothing in it ends it. */
const fenced = (text: string, language: string): string => {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
};

const inLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim();
