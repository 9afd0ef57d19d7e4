import { definePhrase, type Phrase, type PhraseMatch } from "../phrase.ts";
import type { Intent } from "../intent.ts";

/** Requests that a common command answers. */
export const shortcutPhrases: readonly Phrase[] = Object.entries({
  "(?:(?:run|execute|start|do) )?(?:all )?(?:the |my |our )?(?:unit )?tests?(?: suite)?|test (?:it|this|everything|the (?:project|code))|check (?:if|that|whether) the tests (?:pass|work|run)|do the tests pass":
    "npm test",
  "(?:run )?(?:the |a )?build|build (?:it|this|the project)|compile (?:it|this|the project)": "npm run build",
  "(?:run )?(?:the )?(?:lint|linter)|lint (?:it|this|the (?:project|code))": "npm run lint",
  "install (?:the |all )?(?:dependencies|packages|modules)": "npm install",
  "(?:(?:what(?:'s| is)|show|check|tell|give)(?: me)? )?(?:the )?git status|what (?:has |have i |did i )?changed?(?: .*)?|(?:are there|do i have) (?:any )?uncommitted changes.*":
    "git status --short",
  "(?:(?:what(?:'s| is)|show|give)(?: me)? )?(?:the )?(?:git |recent |last |latest )*(?:log|commits|history|commit history)":
    "git log --oneline -10",
  "(?:(?:what(?:'s| is)|show|give)(?: me)? )?(?:the )?(?:git |current |uncommitted )*diff": "git diff",
  "(?:which|what) (?:git )?branch(?: .*)?|what(?:'s| is) the (?:current|git|active) branch":
    "git branch --show-current",
  "what(?:'s| is)? (?:the )?(?:time|date|day)(?: is it| now| today| right now)?|what day is (?:it|today).*": "date",
  "where am i|(?:what(?:'s| is)|which is|print|show)(?: me)? (?:the |my )?(?:current |working )+(?:directory|folder|dir|path)":
    "pwd",
  "who am i": "whoami",
  "(?:which|what)(?:'s| is)?(?: the)? (?:version of node|node(?:\\.js)? version)(?: .*)?|(?:which|what) node(?:\\.js)? (?:version|is).*":
    "node --version",
}).map(([source, command]) => definePhrase(source, () => ({ type: "run", command })));

/** Requests to run a command. */
export const commandPhrases: readonly Phrase[] = [
  definePhrase(
    "(?:run|execute|exec|launch|invoke|start) (?:(?:the|this|a|following|shell|bash|terminal) )*(?:(?:command|commands|script|program|line)\\b:? ?)?(?<command>.+)",
    (match) =>
      isRunnable(match.masked("command"), match.quotations.restore(match.masked("command")))
        ? run(match, "command")
        : undefined,
  ),
  definePhrase(
    "(?:use|in) (?:the )?(?:shell|terminal|bash|command line) (?:to |and )?(?:run |execute |do )?(?<command>.+)",
    (match) =>
      isRunnable(match.masked("command"), match.quotations.restore(match.masked("command")))
        ? run(match, "command")
        : undefined,
  ),
  definePhrase(
    "what (?:does|do|is the output of|happens when (?:i|you) run) (?<command>\\ue000\\d+\\ue001)(?: (?:print|output|say|return|give|show|do))?",
    (match) => (programPattern.test(match.text("command")) ? run(match, "command") : undefined),
  ),
  definePhrase("[$] ?(?<command>.+)", (match) => run(match, "command")),
  definePhrase("(?<command>.+)", (match) => (isCommandLine(match.clause) ? run(match, "command") : undefined)),
];

const run = (match: PhraseMatch, place: string): Intent | undefined => {
  const words = match.masked(place);
  // A quotation inside a command belongs to the command.
  const command = /^\ue000\d+\ue001$/.test(words) ? match.text(place) : match.quotations.restore(words);
  return command.trim() === "" ? undefined : { type: "run", command: command.trim() };
};

/** Whether the text after "run" is a command: quoted, a known program, or a file. */
const isRunnable = (words: string, command: string): boolean =>
  /^\ue000\d+\ue001$/.test(words) || isCommandLine(command) || /^\.{0,2}\//.test(command);

/** Whether the text is a command line by itself. */
export const isCommandLine = (words: string): boolean =>
  programPattern.test(words) || (ambiguousProgram.test(words) && hasOption.test(words));

/** Programs whose names are not everyday words, with arguments. */
const programPattern =
  /^(?:(?:git|npm|npx|pnpm|yarn|cargo|docker|kubectl|python3?|pip3?|tsc|deno|bun|mkdir|wc|du|df|echo|printf|ps|rg|node) [\w./"'$-]\S*.*|(?:ls|pwd|whoami|uname|printenv|df)(?: -.*)?)$/;

/** Programs whose names are everyday words; they need an option to count as a command. */
const ambiguousProgram = /^(?:make|go|find|sort|which|touch|date|env|kill|ls|cat|head|tail|grep|test)\s/;
const hasOption = /\s-{1,2}[a-zA-Z]/;
