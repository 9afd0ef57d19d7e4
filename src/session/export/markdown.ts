import type { Entry } from "../../conversation/entry.ts";
import type { Call, Content, Media, OutcomeStatus, Part, UserPart } from "../../conversation/parts.ts";
import type { SavedSession } from "../load.ts";
import { summarizeSession } from "../store/summary.ts";

/** Formats a session as Markdown: messages, collapsed thinking, tool calls with arguments and results. */
export const exportMarkdown = (session: SavedSession): string => {
  const { title, models } = summarizeSession(session);
  const { head, entries } = session;
  const facts = [
    `Session ${session.id}`,
    ...(head.root === "" ? [] : [`in \`${head.root}\``]),
    `started ${new Date(head.created).toISOString()}`,
    ...(models.length === 0 ? [] : [`with ${models.join(", ")}`]),
  ];
  const start = [`# ${toSingleLine(title === "" ? session.id : title)}`, `${facts.join(", ")}.`];
  return `${[...start, ...entries.flatMap(formatEntry)].join("\n\n")}\n`;
};

const formatEntry = (entry: Entry): readonly string[] => {
  switch (entry.type) {
    case "user":
      return ["## You", ...entry.parts.map(formatPart)];
    case "model":
      return [`## ${toSingleLine(`${entry.origin.provider}/${entry.origin.model}`)}`, ...entry.parts.map(formatPart)];
    case "completion":
      return [
        `**Result of ${toSingleLine(entry.tool)}** (${statusLabels[entry.outcome.status]}, \`${entry.call}\`)`,
        ...entry.outcome.content.map(formatContent),
      ];
    case "compaction":
      return ["## Summary of earlier messages", entry.summary];
    case "notice":
      return entry.text === "" ? [] : [`> ${entry.text.replaceAll("\n", "\n> ")}`];
    case "copy":
      return [`> ${toSingleLine(entry.uri)} was fetched.`, formatContent(entry.media)];
  }
};

const statusLabels: Readonly<Record<OutcomeStatus, string>> = {
  complete: "complete",
  error: "failed",
  cancelled: "cancelled",
  interrupted: "interrupted",
};

const formatPart = (part: Part | UserPart): string => {
  switch (part.type) {
    case "text":
      return part.text;
    case "thinking":
      return `<details><summary>Thinking</summary>\n\n${part.text}\n\n</details>`;
    case "code":
      return formatCodeFence(part.text, part.language);
    case "media":
      return formatMedia(part);
    case "call":
      return formatCall(part);
  }
};

const formatCall = ({ tool, id, input }: Call): string => {
  const [text, language] = input.type === "parsed" ? [JSON.stringify(input.value, null, 2), "json"] : [input.text, ""];
  return `**Tool call: ${toSingleLine(tool)}** (\`${id}\`)\n\n${formatCodeFence(text, language)}`;
};

const formatContent = (part: Content): string => {
  switch (part.type) {
    case "text":
      return formatCodeFence(part.text, "");
    case "structured":
      return formatCodeFence(JSON.stringify(part.value, null, 2), "json");
    case "media":
      return formatMedia(part);
  }
};

const formatMedia = ({ kind, id, name, mimeType, source }: Media): string => {
  const facts = `${kind} ${id}${name === undefined ? "" : ` "${toSingleLine(name)}"`}, ${mimeType}`;
  return source.type === "uri"
    ? `[${facts}](<${source.uri.replaceAll(/[<>\s]/g, encodeURIComponent)}>)`
    : `*${facts}, ${source.bytes} bytes: [blobs/${source.hash.slice(0, 12)}…](blobs/${source.hash})*`;
};

/** Uses a fence longer than any run of backticks in the text. */
const formatCodeFence = (text: string, language: string): string => {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
};

const toSingleLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim();
