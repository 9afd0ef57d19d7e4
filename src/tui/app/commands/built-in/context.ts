import { estimateMedia, estimateParts, estimateTokens } from "../../../../context/estimate-tokens.ts";
import type { Conversation, Entry } from "../../../../conversation/entry.ts";
import type { Part } from "../../../../conversation/parts.ts";
import { openingNotice } from "../../../../transcript/compaction-cut.ts";
import type { SlashCommandContext } from "../slash-command.ts";
import { formatTokenCount } from "./format.ts";

/** `/context`: shows what fills the context window, by part. */
export const showContext = async (_: string, at: SlashCommandContext): Promise<void> => {
  const { agent } = at.opened();
  const { used, size } = await agent.contextUsage();
  const sizes = tokensByPart(agent.conversation());
  const all = Object.values(sizes).reduce((sum, each) => sum + each, 0);
  await at.printMarkdown(
    [
      "| part | tokens | share |",
      "| --- | ---: | ---: |",
      ...Object.entries(sizes).map(
        ([part, tokens]) => `| ${part} | ${formatTokenCount(tokens)} | ${percent(tokens, all)} |`,
      ),
      "",
      `The next request has about ${formatTokenCount(used)} of ${formatTokenCount(size)} tokens (${percent(used, size)}). The parts are estimates.`,
    ].join("\n"),
  );
};

const percent = (part: number, whole: number): string => `${whole === 0 ? 0 : Math.round((100 * part) / whole)}%`;

/** Estimates the tokens of each part of a conversation since the last compaction. */
const tokensByPart = ({ system = "", tools = [], entries }: Conversation): Readonly<Record<string, number>> => {
  const last = entries.findLast((entry) => entry.type === "compaction" && entry.summary !== "");
  const from = last?.type === "compaction" ? last.from : 0;
  const summary = last?.type === "compaction" ? estimateTokens(last.summary) : 0;
  const opening = openingNotice(entries, from);
  const seen = [...(opening === undefined ? [] : [opening]), ...entries.slice(from)];
  const sum = (size: (entry: Entry) => number): number => seen.reduce((all, entry) => all + size(entry), 0);
  return {
    "system prompt": estimateTokens(system),
    "tool definitions": estimateTokens(JSON.stringify(tools)),
    ...(summary === 0 ? {} : { summary }),
    "your messages": sum((entry) => (entry.type === "user" ? estimateParts(entry.parts.filter(isNotMedia)) : 0)),
    answers: sum((entry) => (entry.type === "model" ? textTokens(entry.parts) : 0)),
    "tool results": sum((entry) =>
      entry.type === "completion" ? estimateParts(entry.outcome.content.filter(isNotMedia)) : 0,
    ),
    files: sum(mediaTokens),
    notices: sum((entry) => (entry.type === "notice" ? estimateTokens(entry.text) : 0)),
  };
};

const isNotMedia = ({ type }: { readonly type: string }): boolean => type !== "media";

const textTokens = (parts: readonly Part[]): number =>
  parts.reduce((all, part) => {
    if (part.type === "media") return all;
    return all + estimateTokens(part.type === "call" ? JSON.stringify(part.input) : part.text);
  }, 0);

const mediaTokens = (entry: Entry): number => {
  const parts = entry.type === "completion" ? entry.outcome.content : "parts" in entry ? entry.parts : [];
  return parts.reduce((all, part) => all + (part.type === "media" ? estimateMedia(part) : 0), 0);
};
