import type { Exchange, Heard, Turn } from "./heard.ts";
import { textOf } from "./json.ts";
import { outcomeOf } from "./outcome.ts";
import { requestsOf, type Request } from "./requests.ts";
import { ranIn } from "./results.ts";
import { some } from "./words.ts";

/** Whether a conversation is to be summed up, rather than a file or a project. */
export const isSummaryWanted = ({ system, turns }: Heard, asked: string): boolean => {
  const wants = (text: string): boolean => /\bsummar(?:y|i[sz]e)\b/i.test(text) && about.test(text);
  const isAlone = turns.length === 1 && asked.length > 400;
  return !/^\s*Summary of the conversation so far:/.test(asked) && (wants(asked) || (isAlone && wants(system)));
};

const about =
  /\b(?:conversations?|sessions?|chats?|history|so far|transcript|handover|what (?:we|has|have|was) (?:did|done|been done|happened))\b/i;

/** A summary in the form that was asked for: its tags, its headings, or our own. */
export const summaryOf = ({ system, turns }: Heard, asked: string): string => {
  const facts = factsOf(turns.slice(0, -1), asked);
  const form = formOf(asked) ?? formOf(system) ?? { style: "heading", names: usualNames };
  const filled = form.names.map((name) => ({ name, text: fill(name, facts) }));
  if (form.style === "heading") return filled.map(({ name, text }) => `## ${name}\n${text}`).join("\n\n");
  const inner = filled.map(({ name, text }) => `<${name}>\n${text}\n</${name}>`).join("\n");
  return form.root === undefined ? inner : `<${form.root}>\n${inner}\n</${form.root}>`;
};

const usualNames = ["Goal", "Facts", "Files", "Done", "Problems", "Next"];

type Form =
  | { readonly style: "heading"; readonly names: readonly string[] }
  | { readonly style: "tag"; readonly names: readonly string[]; readonly root?: string };

/** The sections a text asks for: pairs of tags, or headings. */
const formOf = (text: string): Form | undefined => {
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

/** All that is known of a conversation, in lines. */
type Facts = {
  readonly asked: readonly string[];
  readonly facts: readonly string[];
  readonly files: readonly string[];
  readonly deeds: readonly string[];
  readonly problems: readonly string[];
  readonly open: readonly string[];
};

const fill = (name: string, facts: Facts): string => {
  const [, of] = keywords.find(([pattern]) => pattern.test(name)) ?? [undefined, "facts" as const];
  const lines = facts[of];
  return lines.length === 0
    ? "(nothing)"
    : [...new Set(lines)]
        .slice(0, 40)
        .map((line) => `- ${line}`)
        .join("\n");
};

const keywords: readonly (readonly [pattern: RegExp, of: keyof Facts])[] = [
  [/next|open|pending|todo|plan|remain|unfinished|outstanding/i, "open"],
  [/goal|request|intent|objective|task|asked|wants?\b/i, "asked"],
  [/file|artifact|code|^state$/i, "files"],
  [/error|problem|fail|trouble|fix/i, "problems"],
  [/done|progress|action|state|history|result|work|step|change|happened|ledger/i, "deeds"],
];

const factsOf = (turns: readonly Turn[], asked: string): Facts => {
  const requests = requestsOf(turns);
  const exchanges = requests.flatMap((request) => request.exchanges);
  const earlier = turns.flatMap((turn) =>
    turn.by === "user" ? turn.texts.filter((text) => summaryMark.test(text)) : [],
  );
  const spoken = requests.length > 0 ? requests.flatMap(({ texts }) => texts.map(firstLine)) : quotedIn(asked);
  const last = requests.at(-1);
  return {
    asked: spoken,
    facts: [
      ...earlier.map((text) => some(text.replace(summaryMark, "").trim(), { most: 60 }).text),
      ...exchanges.filter(({ tool }) => tool === "save_memory").map(({ input }) => textOf(input["fact"])),
    ],
    files: exchanges.flatMap(fileLine),
    deeds: requests.flatMap(deedLines),
    problems: exchanges.flatMap(problemLine),
    open: last !== undefined && last.answer === undefined ? last.texts.map(firstLine) : [],
  };
};

const summaryMark = /^\s*Summary of the conversation so far:/;

const firstLine = (text: string): string =>
  some(text.trim(), { most: 3 }).text.replaceAll(/\s+/g, " ").slice(0, 200).toWellFormed();

/** What people said in a conversation that is given as text. */
const quotedIn = (asked: string): readonly string[] =>
  [...asked.matchAll(/^\s*(?:\*\*)?(?:user|person|human)(?:\*\*)?\s*:\s*(.+)$/gim)].flatMap(([, words]) =>
    words === undefined ? [] : [firstLine(words)],
  );

const pathIn = ({ input }: Exchange): string => textOf(input["file_path"] ?? input["absolute_path"] ?? input["path"]);

const fileLine = (exchange: Exchange): readonly string[] => {
  const path = pathIn(exchange);
  const [, verb] = fileVerbs.find(([tool]) => tool === exchange.tool) ?? [];
  return verb === undefined || path === "" || outcomeOf(exchange).status !== "done" ? [] : [`${path} (${verb})`];
};

const fileVerbs = [
  ["read_file", "read"],
  ["write_file", "written"],
  ["replace", "changed"],
  ["smart_edit", "changed"],
] as const;

const deedLines = ({ exchanges, answer }: Request): readonly string[] => [
  ...exchanges.map((exchange) => `${exchange.tool} ${shortInput(exchange)}: ${stateOf(exchange)}`),
  ...(answer === undefined || answer.trim() === "" ? [] : [`Said: ${firstLine(answer)}`]),
];

const shortInput = ({ input }: Exchange): string => {
  const [first] = Object.values(input).filter((value) => typeof value === "string");
  return first === undefined ? "" : JSON.stringify(some(first, { most: 1 }).text);
};

const stateOf = (exchange: Exchange): string => {
  const { status, text } = outcomeOf(exchange);
  const ran = status === "done" ? ranIn(text) : undefined;
  return ran === undefined ? status : `exit code ${ran.code || "unknown"}`;
};

const problemLine = (exchange: Exchange): readonly string[] => {
  const { status, text } = outcomeOf(exchange);
  return status === "done" ? [] : [`${exchange.tool} ${shortInput(exchange)} ${status}: ${firstLine(text)}`];
};
