/** One command of plain words, and what joins it to the one before. */
export type PlainCommand = {
  readonly operator: ControlOperator;
  /** Variables set for this command alone, as `NAME=value`. */
  readonly assignments: readonly string[];
  readonly words: readonly string[];
  readonly redirects: readonly PlainRedirect[];
};

/** A redirection that writes no file: from a file, to another stream, or to `/dev/null`. */
export type PlainRedirect = {
  /** The stream before the operator, where one is named. */
  readonly stream: number | undefined;
  readonly operator: string;
  readonly target: string;
};

export type ControlOperator = "first" | "&&" | "||" | "|" | ";";

/** A command line as plain words, or why it is more than that. */
export type PlainParseResult =
  | { readonly plain: true; readonly commands: readonly PlainCommand[] }
  | { readonly plain: false; readonly reason: string };

/**
 * Reads a command line that holds nothing but literal words joined by `&&`,
 * `||`, `|`, `;` and newlines, with variables set for one command and
 * redirections that write no file. Everything a shell would expand, write, define
 * or put in the background makes it more than plain, and so does everything
 * that shells are known to read differently.
 */
export const parsePlainCommands = (text: string): PlainParseResult => {
  if (text.length > maxPlainLength) return notPlain(`it is longer than ${maxPlainLength} characters`);
  // Most lines are no more than this, and what knows all of Unicode takes long to get ready.
  if (simpleLine.test(text)) return assembleCommands(text.split(" ").map((raw) => ({ type: "word", raw })));
  if (invisibleCharacter.test(text)) return notPlain("it holds control characters or invisible ones");
  const tokens = tokenize(text);
  return typeof tokens === "string" ? notPlain(tokens) : assembleCommands(tokens);
};

const maxPlainLength = 10_000;

/** Words of letters and signs that mean nothing to any shell. */
const simpleLine = /^[\w./:=,@%+-]+(?: [\w./:=,@%+-]+)*$/;

/** Everything without a shape of its own, but for space, tab and newline. Shells disagree about carriage returns and vertical tabs. */
const invisibleCharacter = /[^\P{C}\t\n]|[^\P{Z} ]|\p{Default_Ignorable_Code_Point}/u;

const notPlain = (reason: string): PlainParseResult => ({ plain: false, reason });

type PlainToken =
  | { readonly type: "word"; readonly raw: string }
  | { readonly type: "joint"; readonly joint: string }
  | { readonly type: "redirect"; readonly stream: number | undefined; readonly operator: string };

/** A word made of bare, escaped and quoted pieces. `~` and `#` are bare only where no shell gives them a meaning. */
const wordPattern = [
  String.raw`(?!['"\\$\x60;&|<>(){}*?[\]~#])[^\s]`,
  String.raw`(?<=[\p{L}\p{N}^])[~#]`,
  String.raw`(?<![^ \t\n;&|])[[\]](?![^ \t\n;&|])`,
  String.raw`\\[ -~]`,
  String.raw`'[^']*'`,
  // A dollar sign that no name follows is only itself.
  String.raw`"(?:[^"\\$\x60]|\\[^\n]|\$(?=["|) ]))*"`,
].join("|");
const operatorPattern = String.raw`&&|\|\||\|(?!&)|;(?![;&])|\n`;
/** Streams above two, and operators that shells read in more than one way, are left out. */
const redirectPattern = String.raw`(?:(?<![^ \t\n;&|])[012](?=[<>]))?(?:>&(?=[12](?:[ \t\n;&|]|$))|>>(?![&|])|>(?![>&|(])|<(?![<>&(]))|&>>?(?![>&|(])`;

const tokenize = (text: string): readonly PlainToken[] | string => {
  const pattern = new RegExp(
    String.raw`[ \t]+|(?<redirect>${redirectPattern})|(?<word>(?:${wordPattern})+)|(?<joint>${operatorPattern})`,
    "uy",
  );
  const tokens: PlainToken[] = [];
  while (pattern.lastIndex < text.length) {
    const at = pattern.lastIndex;
    const groups = pattern.exec(text)?.groups;
    if (groups === undefined) return `${JSON.stringify(text.slice(at, at + 16).trim())} is more than plain words`;
    const raw = groups["word"];
    if (raw !== undefined && /^\d+$/.test(raw) && /[<>]/.test(text[pattern.lastIndex] ?? ""))
      return "it redirects a stream that has no name";
    if (raw !== undefined) tokens.push({ type: "word", raw });
    if (groups["redirect"] !== undefined) tokens.push(parseRedirect(groups["redirect"]));
    if (groups["joint"] !== undefined) tokens.push({ type: "joint", joint: groups["joint"] });
  }
  return tokens;
};

const parseRedirect = (text: string): PlainToken => {
  const [, stream, operator = ""] = /^(\d)?(.*)$/.exec(text) ?? [];
  return { type: "redirect", stream: stream === undefined ? undefined : Number(stream), operator };
};

const assembleCommands = (tokens: readonly PlainToken[]): PlainParseResult => {
  const commands: CommandDraft[] = [];
  /** What joins the next command; undefined while words still belong to the last one. */
  let pending: ControlOperator | undefined = "first";
  let open: Extract<PlainToken, { readonly type: "redirect" }> | undefined;
  for (const token of tokens) {
    if (open !== undefined && token.type !== "word") return notPlain("a redirection lacks its target");
    if (token.type === "word") {
      if (token.raw.startsWith("=")) return notPlain("some shells expand a word that begins with =");
      if (pending !== undefined) commands.push({ operator: pending, assignments: [], words: [], redirects: [] });
      pending = undefined;
      const fault = addWord(commands.at(-1), token.raw, open);
      if (fault !== undefined) return notPlain(fault);
      open = undefined;
    } else if (token.type === "redirect") {
      if (pending !== undefined || commands.at(-1)?.words.length === 0)
        return notPlain("a redirection stands before its command");
      open = token;
    } else if (token.joint === "\n") {
      pending ??= ";";
    } else {
      if (pending !== undefined) return notPlain("a command is missing beside an operator");
      pending = token.joint as ControlOperator;
    }
  }
  if (open !== undefined) return notPlain("a redirection lacks its target");
  if (commands.length === 0) return notPlain("there is no command in it");
  if (pending === "&&" || pending === "||" || pending === "|")
    return notPlain("a command is missing beside an operator");
  if (commands.some(({ words }) => words.length === 0)) return notPlain("it sets a variable for no command");
  const odd = commands.find(({ words: [name = ""] }) => !isCommandName(name))?.words[0];
  return odd === undefined ? { plain: true, commands } : notPlain(`${JSON.stringify(odd)} is not a plain command name`);
};

type CommandDraft = { operator: ControlOperator; assignments: string[]; words: string[]; redirects: PlainRedirect[] };

/** Puts a word where it belongs in its command. A text says why it cannot be there. */
const addWord = (
  command: CommandDraft | undefined,
  raw: string,
  open: Extract<PlainToken, { readonly type: "redirect" }> | undefined,
): string | undefined => {
  const text = unquote(raw);
  if (open !== undefined) {
    if (/^&?>>?$/.test(open.operator) && text !== "/dev/null") return `it writes to ${JSON.stringify(text)}`;
    command?.redirects.push({ stream: open.stream, operator: open.operator, target: text });
  } else if (command?.words.length === 0 && /^[A-Za-z_]\w*=/.test(raw)) command.assignments.push(text);
  else command?.words.push(text);
  return undefined;
};

const unquote = (raw: string): string =>
  raw.replace(/'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/gsu, (_, single?: string, double?: string, escaped?: string) =>
    double === undefined ? (single ?? escaped ?? "") : double.replace(/\\([$`"\\])/gu, "$1"),
  );

/** Words of the shell's own grammar are no names even where quotes would make them one. */
const isCommandName = (name: string): boolean => !keywords.has(name) && /^(?:[\w./+@-]+|\[|:)$/.test(name);

const keywords: ReadonlySet<string> = new Set(
  "if then else elif fi case esac for select while until do done in function time coproc".split(" "),
);
