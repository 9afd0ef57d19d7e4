import type { AttachedFile } from "../api/attached-file.ts";
import type { ToolExchange, ParsedRequest, DemoTool } from "../api/parsed-request.ts";
import { describeFile } from "./describe-files.ts";
import { errorHint } from "./error-hints.ts";
import { parseOutcome } from "../plan/outcome.ts";
import type { UserRequest } from "../plan/user-requests.ts";
import { parseCommandResult } from "../plan/tool-results.ts";
import type { SmallTalkType, Intent } from "../intent/intent.ts";
import { codeBlock, countOf, joinList, endSentence, excerpt } from "./text.ts";

/** An intent that is answered without a tool. */
type SmallTalkIntent = Extract<Intent, { type: SmallTalkType | "unknown" }>;

/** Whether an intent is answered without a tool. */
export const isSmallTalk = (intent: Intent): intent is SmallTalkIntent => kinds.has(intent.type);

const kinds: ReadonlySet<string> = new Set<SmallTalkIntent["type"]>([
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

/** Context for an answer without tools. */
type SmallTalkContext = {
  /** Whether the request contains nothing else. */
  readonly isAlone: boolean;
  readonly request: UserRequest;
  readonly requests: readonly UserRequest[];
  readonly parsed: ParsedRequest;
};

/** Answers an intent that needs no tool. */
export const answerSmallTalk = (
  intent: SmallTalkIntent,
  { isAlone, request, requests, parsed }: SmallTalkContext,
): readonly string[] => {
  const able = describeAbilities(parsed.tools);
  switch (intent.type) {
    case "greet":
      return isAlone ? [`Hello! ${identity} ${able}`] : [];
    case "thank":
      return isAlone ? ["You are welcome."] : [];
    case "identity":
      return [`${identity} The model's id is offline/${parsed.model}. ${howToAddKey}`];
    case "abilities":
      return [`${identity}\n\n${able}\n\n${howToAddKey}`];
    case "continue":
    case "again":
      return ["There is nothing to continue. Tell me what to do next."];
    case "explain":
      return [describeLastFailure(requests)];
    case "attached":
      return [describeAttachments(request)];
    case "unknown":
      return [`I did not understand "${intent.text}".`];
  }
};

/** The answer to a request that was not understood. */
export const notUnderstood = (tools: readonly DemoTool[]): string =>
  `Sorry, I do not understand that request, so I did nothing. ${identity}\n\n${describeAbilities(tools)}\n\n${howToAddKey}`;

/** States that this is the demo model. */
const identity =
  "I am Parley's built-in demo model: a small set of rules, not a language model. I understand a few simple requests in plain English and run the real tools of this session.";

/** How to use a real model. */
const howToAddKey =
  "To use a real model, store a key with `/login` (`parley login` in a shell), or set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY and restart Parley. `parley models` lists the models, `parley doctor` shows which keys are set.";

/** Lists example requests for the offered tools. */
export const describeAbilities = (tools: readonly DemoTool[]): string => {
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

/** Describes the files attached to the message. */
const describeAttachments = ({ files }: UserRequest): string =>
  `You sent me ${countOf(files.length, "file")}: ${joinList(files.map(describeNamedFile))}. I can see its type and size, but not its content.`;

const describeNamedFile = (file: AttachedFile): string =>
  `${file.name === undefined ? "" : `${file.name}, `}${describeFile(file)}`;

/** Describes the last failure of the conversation. */
const describeLastFailure = (requests: readonly UserRequest[]): string => {
  const trouble = requests.flatMap(({ exchanges }) => exchanges).findLast(isFailure);
  if (trouble === undefined) return "Nothing has failed so far in this conversation.";
  const { status, text } = parseOutcome(trouble);
  const ran = status === "done" ? parseCommandResult(text) : undefined;
  const output = ran === undefined ? text : ran.output || ran.error;
  const what = Object.values(trouble.input).find((value) => typeof value === "string");
  const how = ran === undefined ? statuses[status] : `ended with exit code ${ran.code || "unknown"}`;
  const hint = errorHint(output);
  return [
    `The last failure was ${trouble.tool}${what === undefined ? "" : ` (${excerpt(what, { most: 1 }).text})`}: it ${how}.`,
    ...(output.trim() === "" ? [] : [`Output:\n\n${codeBlock(excerpt(output, { most: 20, end: "last" }).text)}`]),
    hint === undefined ? "I know no more about this kind of error." : endSentence(hint),
  ].join("\n\n");
};

const isFailure = (exchange: ToolExchange): boolean => {
  const { status, text } = parseOutcome(exchange);
  if (status !== "done") return true;
  const ran = parseCommandResult(text);
  return ran !== undefined && ran.code !== "0";
};

const statuses = {
  done: "ended",
  failed: "failed",
  refused: "was denied by you",
  cancelled: "was cancelled",
  interrupted: "was interrupted",
} as const;
