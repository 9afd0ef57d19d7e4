import type { ToolExchange, ParsedRequest, DemoTurn } from "../api/parsed-request.ts";
import { textOf } from "../json.ts";
import { parseOutcome } from "../plan/outcome.ts";
import { groupUserRequests, type UserRequest } from "../plan/user-requests.ts";
import { parseCommandResult } from "../plan/tool-results.ts";
import { excerpt } from "./text.ts";

/** Whether the request asks to summarize the conversation rather than a file or project. */
export const asksForSummary = ({ system, turns }: ParsedRequest, prompt: string): boolean => {
  const wants = (text: string): boolean => /\bsummar(?:y|i[sz]e)\b/i.test(text) && conversationWords.test(text);
  const isAlone = turns.length === 1 && prompt.length > 400;
  return !/^\s*Summary of the conversation so far:/.test(prompt) && (wants(prompt) || (isAlone && wants(system)));
};

const conversationWords =
  /\b(?:conversations?|sessions?|chats?|history|so far|transcript|handover|what (?:we|has|have|was) (?:did|done|been done|happened))\b/i;

/** Writes a summary in the requested form (tags or headings), or in a default one. */
export const summarizeConversation = ({ system, turns }: ParsedRequest, prompt: string): string => {
  const facts = collectFacts(turns.slice(0, -1), prompt);
  const form = parseSummaryForm(prompt) ?? parseSummaryForm(system) ?? { style: "heading", names: defaultSections };
  const filled = form.names.map((name) => ({ name, text: fillSection(name, facts) }));
  if (form.style === "heading") return filled.map(({ name, text }) => `## ${name}\n${text}`).join("\n\n");
  const inner = filled.map(({ name, text }) => `<${name}>\n${text}\n</${name}>`).join("\n");
  return form.root === undefined ? inner : `<${form.root}>\n${inner}\n</${form.root}>`;
};

const defaultSections = ["Goal", "Facts", "Files", "Done", "Problems", "Next"];

type SummaryForm =
  | { readonly style: "heading"; readonly names: readonly string[] }
  | { readonly style: "tag"; readonly names: readonly string[]; readonly root?: string };

/** Finds the sections a text asks for: pairs of tags, or headings. */
const parseSummaryForm = (text: string): SummaryForm | undefined => {
  const short = text.slice(0, 20_000);
  const pairs = [...short.matchAll(/<([a-z][\w-]{2,40})>/gi)].flatMap(([, name = ""], index, all) =>
    all.findIndex(([, other]) => other === name) === index && short.includes(`</${name}>`) ? [name] : [],
  );
  const root = pairs.find((name) => {
    const inside = short.slice(short.indexOf(`<${name}>`), short.indexOf(`</${name}>`));
    return pairs.some((other) => other !== name && inside.includes(`</${other}>`));
  });
  const leaves = pairs.filter((name) => name !== root);
  if (leaves.length > 0) return { style: "tag", names: leaves, ...(root === undefined ? {} : { root }) };
  const headings = [
    ...short.matchAll(
      /^\s*(?:#{1,4}\s+|(?:[-*]|\d+[.)])\s+\*{0,2}(?=[A-Z][\w ,'/-]{2,50}\*{0,2}:))([A-Z][\w ,'/-]{2,50})/gm,
    ),
  ].flatMap(([, name]) => name?.trim() ?? []);
  return headings.length > 1 ? { style: "heading", names: [...new Set(headings)] } : undefined;
};

/** The facts of a conversation, one per line. */
type ConversationFacts = {
  readonly prompts: readonly string[];
  readonly facts: readonly string[];
  readonly files: readonly string[];
  readonly actions: readonly string[];
  readonly problems: readonly string[];
  readonly open: readonly string[];
};

const fillSection = (name: string, facts: ConversationFacts): string => {
  const [, of] = keywords.find(([pattern]) => pattern.test(name)) ?? [undefined, "facts" as const];
  const lines = facts[of];
  return lines.length === 0
    ? "(nothing)"
    : [...new Set(lines)]
        .slice(0, 40)
        .map((line) => `- ${line}`)
        .join("\n");
};

const keywords: readonly (readonly [pattern: RegExp, of: keyof ConversationFacts])[] = [
  [/next|open|pending|todo|plan|remain|unfinished|outstanding/i, "open"],
  [/goal|request|intent|objective|task|asked|wants?\b/i, "prompts"],
  [/file|artifact|code|^state$/i, "files"],
  [/error|problem|fail|trouble|fix/i, "problems"],
  [/done|progress|action|state|history|result|work|step|change|happened|ledger/i, "actions"],
];

const collectFacts = (turns: readonly DemoTurn[], prompt: string): ConversationFacts => {
  const requests = groupUserRequests(turns);
  const exchanges = requests.flatMap((request) => request.exchanges);
  const earlier = turns.flatMap((turn) =>
    turn.role === "user" ? turn.texts.filter((text) => summaryMark.test(text)) : [],
  );
  const prompts = requests.length > 0 ? requests.flatMap(({ texts }) => texts.map(firstLine)) : quotedIn(prompt);
  const last = requests.at(-1);
  return {
    prompts,
    facts: [
      ...earlier.map((text) => excerpt(text.replace(summaryMark, "").trim(), { most: 60 }).text),
      ...exchanges.filter(({ tool }) => tool === "save_memory").map(({ input }) => textOf(input["fact"])),
    ],
    files: exchanges.flatMap(fileLine),
    actions: requests.flatMap(actionLines),
    problems: exchanges.flatMap(problemLine),
    open: last !== undefined && last.answer === undefined ? last.texts.map(firstLine) : [],
  };
};

const summaryMark = /^\s*Summary of the conversation so far:/;

const firstLine = (text: string): string =>
  excerpt(text.trim(), { most: 3 }).text.replaceAll(/\s+/g, " ").slice(0, 200).toWellFormed();

/** Finds the user's words in a conversation given as text. */
const quotedIn = (prompt: string): readonly string[] =>
  [...prompt.matchAll(/^\s*(?:\*\*)?(?:user|person|human)(?:\*\*)?\s*:\s*(.+)$/gim)].flatMap(([, words]) =>
    words === undefined ? [] : [firstLine(words)],
  );

const pathIn = ({ input }: ToolExchange): string =>
  textOf(input["file_path"] ?? input["absolute_path"] ?? input["path"]);

const fileLine = (exchange: ToolExchange): readonly string[] => {
  const path = pathIn(exchange);
  const [, verb] = fileVerbs.find(([tool]) => tool === exchange.tool) ?? [];
  return verb === undefined || path === "" || parseOutcome(exchange).status !== "done" ? [] : [`${path} (${verb})`];
};

const fileVerbs = [
  ["read_file", "read"],
  ["write_file", "written"],
  ["replace", "changed"],
  ["smart_edit", "changed"],
] as const;

const actionLines = ({ exchanges, answer }: UserRequest): readonly string[] => [
  ...exchanges.map((exchange) => `${exchange.tool} ${shortInput(exchange)}: ${stateOf(exchange)}`),
  ...(answer === undefined || answer.trim() === "" ? [] : [`Said: ${firstLine(answer)}`]),
];

const shortInput = ({ input }: ToolExchange): string => {
  const [first] = Object.values(input).filter((value) => typeof value === "string");
  return first === undefined ? "" : JSON.stringify(excerpt(first, { most: 1 }).text);
};

const stateOf = (exchange: ToolExchange): string => {
  const { status, text } = parseOutcome(exchange);
  const ran = status === "done" ? parseCommandResult(text) : undefined;
  return ran === undefined ? status : `exit code ${ran.code || "unknown"}`;
};

const problemLine = (exchange: ToolExchange): readonly string[] => {
  const { status, text } = parseOutcome(exchange);
  return status === "done" ? [] : [`${exchange.tool} ${shortInput(exchange)} ${status}: ${firstLine(text)}`];
};
