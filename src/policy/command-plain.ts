/** One command of plain words, and what joins it to the one before. */
export type PlainCommand = { readonly joint: Joint; readonly words: readonly string[] };

export type Joint = "first" | "&&" | "||" | "|" | ";";

/** A command line as plain words, or why it is more than that. */
export type PlainReading =
  | { readonly plain: true; readonly commands: readonly PlainCommand[] }
  | { readonly plain: false; readonly reason: string };

/**
 * Reads a command line that holds nothing but literal words joined by `&&`,
 * `||`, `|`, `;` and newlines. Everything a shell would expand, redirect, define
 * or put in the background makes it more than plain, and so does everything
 * that shells are known to read differently.
 */
export const readPlain = (text: string): PlainReading => {
  if (text.length > longestPlain) return more(`it is longer than ${longestPlain} characters`);
  // Most lines are no more than this, and what knows all of Unicode takes long to get ready.
  if (simple.test(text)) return assemble(text.split(" ").map((raw) => ({ type: "word", raw })));
  if (unseeable.test(text)) return more("it holds control characters or invisible ones");
  const tokens = tokensOf(text);
  return typeof tokens === "string" ? more(tokens) : assemble(tokens);
};

const longestPlain = 10_000;

/** Words of letters and signs that mean nothing to any shell. */
const simple = /^[\w./:=,@%+-]+(?: [\w./:=,@%+-]+)*$/;

/** Everything without a shape of its own, but for space, tab and newline. Shells disagree about carriage returns and vertical tabs. */
const unseeable = /[^\P{C}\t\n]|[^\P{Z} ]|\p{Default_Ignorable_Code_Point}/u;

const more = (reason: string): PlainReading => ({ plain: false, reason });

type Token = { readonly type: "word"; readonly raw: string } | { readonly type: "joint"; readonly joint: string };

/** A word made of bare, escaped and quoted pieces. `~` and `#` are bare only where no shell gives them a meaning. */
const word = [
  String.raw`(?!['"\\$\x60;&|<>(){}*?[\]~#])[^\s]`,
  String.raw`(?<=[\p{L}\p{N}^])[~#]`,
  String.raw`(?<![^ \t\n;&|])[[\]](?![^ \t\n;&|])`,
  String.raw`\\[ -~]`,
  String.raw`'[^']*'`,
  // A dollar sign that no name follows is only itself.
  String.raw`"(?:[^"\\$\x60]|\\[^\n]|\$(?=["|) ]))*"`,
].join("|");
const joint = String.raw`&&|\|\||\|(?!&)|;(?![;&])|\n`;

const tokensOf = (text: string): readonly Token[] | string => {
  const pattern = new RegExp(String.raw`[ \t]+|(?<word>(?:${word})+)|(?<joint>${joint})`, "uy");
  const tokens: Token[] = [];
  while (pattern.lastIndex < text.length) {
    const at = pattern.lastIndex;
    const groups = pattern.exec(text)?.groups;
    if (groups === undefined) return `${JSON.stringify(text.slice(at, at + 16).trim())} is more than plain words`;
    if (groups["word"] !== undefined) tokens.push({ type: "word", raw: groups["word"] });
    if (groups["joint"] !== undefined) tokens.push({ type: "joint", joint: groups["joint"] });
  }
  return tokens;
};

const assemble = (tokens: readonly Token[]): PlainReading => {
  const commands: { joint: Joint; words: string[] }[] = [];
  /** What joins the next command; undefined while words still belong to the last one. */
  let pending: Joint | undefined = "first";
  for (const token of tokens) {
    if (token.type === "word") {
      if (token.raw.startsWith("=")) return more("some shells expand a word that begins with =");
      if (pending === undefined) commands.at(-1)?.words.push(unquoted(token.raw));
      else commands.push({ joint: pending, words: [unquoted(token.raw)] });
      pending = undefined;
    } else if (token.joint === "\n") {
      pending ??= ";";
    } else {
      if (pending !== undefined) return more("a command is missing beside an operator");
      pending = token.joint as Joint;
    }
  }
  if (commands.length === 0) return more("there is no command in it");
  if (pending === "&&" || pending === "||" || pending === "|") return more("a command is missing beside an operator");
  const odd = commands.find(({ words: [name = ""] }) => !isName(name))?.words[0];
  return odd === undefined ? { plain: true, commands } : more(`${JSON.stringify(odd)} is not a plain command name`);
};

const unquoted = (raw: string): string =>
  raw.replace(/'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/gsu, (_, single?: string, double?: string, escaped?: string) =>
    double === undefined ? (single ?? escaped ?? "") : double.replace(/\\([$`"\\])/gu, "$1"),
  );

/** Words of the shell's own grammar are no names even where quotes would make them one. */
const isName = (name: string): boolean => !keywords.has(name) && /^(?:[\w./+@-]+|\[|:)$/.test(name);

const keywords: ReadonlySet<string> = new Set(
  "if then else elif fi case esac for select while until do done in function time coproc".split(" "),
);
