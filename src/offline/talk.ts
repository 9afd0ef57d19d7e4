import type { HeardFile } from "./file.ts";
import type { Exchange, Heard, Offered } from "./heard.ts";
import { describeFile } from "./tell-files.ts";
import { hintOf } from "./hints.ts";
import { outcomeOf } from "./outcome.ts";
import type { Request } from "./requests.ts";
import { ranIn } from "./results.ts";
import type { Talk, Wish } from "./wish.ts";
import { block, count, listed, sentence, some } from "./words.ts";

/** What can be answered without a tool. */
type Spoken = Extract<Wish, { type: Talk | "unknown" }>;

/** Whether a wish needs an answer and nothing else. */
export const isTalk = (wish: Wish): wish is Spoken => kinds.has(wish.type);

const kinds: ReadonlySet<string> = new Set<Spoken["type"]>([
  "greet",
  "thank",
  "identity",
  "abilities",
  "continue",
  "again",
  "explain",
  "attached",
  "unknown",
]);

/** What the answer can speak of. */
type Around = {
  /** Whether nothing else was said. */
  readonly isAlone: boolean;
  readonly request: Request;
  readonly requests: readonly Request[];
  readonly heard: Heard;
};

/** The answer to what needs no tool. */
export const talkAbout = (wish: Spoken, { isAlone, request, requests, heard }: Around): readonly string[] => {
  const able = abilities(heard.tools);
  switch (wish.type) {
    case "greet":
      return isAlone ? [`Hello! ${identity} ${able}`] : [];
    case "thank":
      return isAlone ? ["You are welcome."] : [];
    case "identity":
      return [`${identity} The model's name is offline/${heard.model}. ${howToAddKey}`];
    case "abilities":
      return [`${identity}\n\n${able}\n\n${howToAddKey}`];
    case "continue":
    case "again":
      return ["There is nothing to go on with. Tell me what to do next."];
    case "explain":
      return [tellTrouble(requests)];
    case "attached":
      return [tellAttached(request)];
    case "unknown":
      return [`I did not understand "${wish.text}".`];
  }
};

/** The answer where nothing was understood. */
export const cannot = (tools: readonly Offered[]): string =>
  `Sorry, that is more than I understand, so I have done nothing. ${identity}\n\n${abilities(tools)}\n\n${howToAddKey}`;

/** Who speaks, plainly. */
const identity =
  "I am Parley's built-in demo model: a small set of rules, not a language model. I understand a few simple requests in plain English and really use the tools of this session.";

/** How to get a model that understands more. */
const howToAddKey =
  "To work with a real model, set a key in the environment, such as ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, and start Parley again; `parley models` lists what there is, and `parley doctor` what is set.";

/** What can be asked, by the tools that are offered. */
export const abilities = (tools: readonly Offered[]): string => {
  const known = examples.filter(([tool]) => tools.some(({ name }) => name === tool));
  if (known.length === 0) return "This session offers me no tools, so I can only talk.";
  return ["Try one of these:", ...known.map(([, words]) => `- ${words}`)].join("\n");
};

const examples: readonly (readonly [tool: string, words: string])[] = [
  ["list_directory", '"list the files in src", "what is this project about?"'],
  ["read_file", '"read README.md", "show the last 10 lines of app.log", "what is in logo.png?"'],
  ["glob", '"find all ts files in src", "how many json files are there?"'],
  ["search_file_content", '"search for TODO", "where is parseArguments defined?"'],
  ["run_shell_command", '"run npm test", "what is the git status?"'],
  ["write_file", "\"create hello.txt with the content 'Hello'\", \"append 'more' to notes.txt\""],
  ["replace", '"replace foo with bar in notes.txt"'],
  ["web_fetch", '"fetch https://example.com"'],
  ["save_memory", '"remember that I prefer tabs"'],
];

/** What files came with the message. */
const tellAttached = ({ files }: Request): string =>
  `You sent me ${count(files.length, "file")}: ${listed(files.map(namedFile))}. I can see type and size, but not what is shown.`;

const namedFile = (file: HeardFile): string =>
  `${file.name === undefined ? "" : `${file.name}, `}${describeFile(file)}`;

/** What failed last, in all of the conversation. */
const tellTrouble = (requests: readonly Request[]): string => {
  const trouble = requests.flatMap(({ exchanges }) => exchanges).findLast(isTrouble);
  if (trouble === undefined) return "Nothing has failed so far in this conversation.";
  const { status, text } = outcomeOf(trouble);
  const ran = status === "done" ? ranIn(text) : undefined;
  const said = ran === undefined ? text : ran.output || ran.error;
  const what = Object.values(trouble.input).find((value) => typeof value === "string");
  const how = ran === undefined ? statuses[status] : `ended with exit code ${ran.code || "unknown"}`;
  const hint = hintOf(said);
  return [
    `The last thing that went wrong was ${trouble.tool}${what === undefined ? "" : ` (${some(what, { most: 1 }).text})`}: it ${how}.`,
    ...(said.trim() === "" ? [] : [`It said:\n\n${block(some(said, { most: 20, end: "last" }).text)}`]),
    hint === undefined ? "I do not know more about this kind of error." : sentence(hint),
  ].join("\n\n");
};

const isTrouble = (exchange: Exchange): boolean => {
  const { status, text } = outcomeOf(exchange);
  if (status !== "done") return true;
  const ran = ranIn(text);
  return ran !== undefined && ran.code !== "0";
};

const statuses = {
  done: "ended",
  failed: "failed",
  refused: "was refused by you",
  cancelled: "was cancelled",
  interrupted: "was interrupted",
} as const;
