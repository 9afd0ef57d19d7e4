/** One command of literal words, and the operator between it and the one before. */
export type PlainCommand = {
  readonly operator: ControlOperator;
  /** Variables set for this command alone, as `NAME=value`. */
  readonly assignments: readonly string[];
  readonly words: readonly string[];
  readonly redirects: readonly PlainRedirect[];
};

/** A redirection that writes no file: from a file, to another stream, or to `/dev/null`. */
export type PlainRedirect = {
  /** The file descriptor before the operator, if any. */
  readonly stream: number | undefined;
  readonly operator: string;
  readonly target: string;
};

export type ControlOperator = "first" | "&&" | "||" | "|" | ";";

/** A command line as plain commands, or why it is not plain, as a verb phrase. */
export type PlainParseResult =
  | { readonly plain: true; readonly commands: readonly PlainCommand[] }
  | { readonly plain: false; readonly reason: string };

/**
 * Parses a command line that consists only of literal words joined by `&&`, `||`, `|`, `;` and newlines, with
 * variables set for one command and redirections that write no file. Expansions, substitutions, redirections to
 * files, functions and background jobs make it not plain, and so does syntax that shells parse differently.
 */
export const parsePlainCommands = (text: string): PlainParseResult => {
  if (text.length > maxPlainLength) return notPlain(`is longer than ${maxPlainLength} characters`);
  // Most lines match this, and compiling the Unicode pattern below is slow.
  if (simpleLine.test(text)) return assembleCommands(text.split(" ").map((raw) => ({ type: "word", raw })));
  if (invisibleCharacter.test(text)) return notPlain("contains control or invisible characters");
  const tokens = tokenize(text);
  return typeof tokens === "string" ? notPlain(tokens) : assembleCommands(tokens);
};

const maxPlainLength = 10_000;

/** Words of characters without a meaning to any shell. */
const simpleLine = /^[\w./:=,@%+-]+(?: [\w./:=,@%+-]+)*$/;

/** Invisible characters except space, tab and newline. Shells disagree about carriage returns and vertical tabs. */
const invisibleCharacter = /[^\P{C}\t\n]|[^\P{Z} ]|\p{Default_Ignorable_Code_Point}/u;

const notPlain = (reason: string): PlainParseResult => ({ plain: false, reason });

type PlainToken =
  | { readonly type: "word"; readonly raw: string }
  | { readonly type: "joint"; readonly joint: string }
  | { readonly type: "redirect"; readonly stream: number | undefined; readonly operator: string };

/** A word of bare, escaped and quoted pieces. `~` and `#` are bare only where no shell gives them a meaning. */
const wordPattern = [
  String.raw`(?!['"\\$\x60;&|<>(){}*?[\]~#])[^\s]`,
  String.raw`(?<=[\p{L}\p{N}^])[~#]`,
  String.raw`(?<![^ \t\n;&|])[[\]](?![^ \t\n;&|])`,
  String.raw`\\[ -~]`,
  String.raw`'[^']*'`,
  // A dollar sign that is not followed by a name is literal.
  String.raw`"(?:[^"\\$\x60]|\\[^\n]|\$(?=["|) ]))*"`,
].join("|");
const operatorPattern = String.raw`&&|\|\||\|(?!&)|;(?![;&])|\n`;
/** Without descriptors above two and operators that shells parse differently. */
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
    if (groups === undefined)
      return `contains a redirection, substitution or other shell syntax (${JSON.stringify(text.slice(at, at + 16).trim())})`;
    const raw = groups["word"];
    if (raw !== undefined && /^\d+$/.test(raw) && /[<>]/.test(text[pattern.lastIndex] ?? ""))
      return "redirects an unusual file descriptor";
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
  /** The operator before the next command; undefined while words still belong to the last one. */
  let nextOperator: ControlOperator | undefined = "first";
  let openRedirect: Extract<PlainToken, { readonly type: "redirect" }> | undefined;
  for (const token of tokens) {
    if (openRedirect !== undefined && token.type !== "word") return notPlain("contains a redirection without a target");
    if (token.type === "word") {
      if (token.raw.startsWith("=")) return notPlain('contains a word that begins with "=", which some shells expand');
      if (nextOperator !== undefined)
        commands.push({ operator: nextOperator, assignments: [], words: [], redirects: [] });
      nextOperator = undefined;
      const problem = addWord(commands.at(-1), token.raw, openRedirect);
      if (problem !== undefined) return notPlain(problem);
      openRedirect = undefined;
    } else if (token.type === "redirect") {
      if (nextOperator !== undefined || commands.at(-1)?.words.length === 0)
        return notPlain("contains a redirection before its command");
      openRedirect = token;
    } else if (token.joint === "\n") {
      nextOperator ??= ";";
    } else {
      if (nextOperator !== undefined) return notPlain("has an operator without a command");
      nextOperator = token.joint as ControlOperator;
    }
  }
  if (openRedirect !== undefined) return notPlain("contains a redirection without a target");
  if (commands.length === 0) return notPlain("contains no command");
  if (nextOperator === "&&" || nextOperator === "||" || nextOperator === "|")
    return notPlain("has an operator without a command");
  if (commands.some(({ words }) => words.length === 0)) return notPlain("sets a variable without a command");
  const unusualName = commands.find(({ words: [name = ""] }) => !isCommandName(name))?.words[0];
  return unusualName === undefined
    ? { plain: true, commands }
    : notPlain(`contains the unusual command name ${JSON.stringify(unusualName)}`);
};

type CommandDraft = { operator: ControlOperator; assignments: string[]; words: string[]; redirects: PlainRedirect[] };

/** Adds a word to its command. Returns a text that says why the line is not plain, if it is not. */
const addWord = (
  command: CommandDraft | undefined,
  raw: string,
  openRedirect: Extract<PlainToken, { readonly type: "redirect" }> | undefined,
): string | undefined => {
  const text = unquote(raw);
  if (openRedirect !== undefined) {
    if (/^&?>>?$/.test(openRedirect.operator) && text !== "/dev/null")
      return `contains a redirection to ${JSON.stringify(text)}`;
    command?.redirects.push({ stream: openRedirect.stream, operator: openRedirect.operator, target: text });
  } else if (command?.words.length === 0 && /^[A-Za-z_]\w*=/.test(raw)) command.assignments.push(text);
  else command?.words.push(text);
  return undefined;
};

const unquote = (raw: string): string =>
  raw.replace(/'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/gsu, (_, single?: string, double?: string, escaped?: string) =>
    double === undefined ? (single ?? escaped ?? "") : double.replace(/\\([$`"\\])/gu, "$1"),
  );

/** Whether a word can be a command name. Shell keywords are not, even where quotes would make them one. */
const isCommandName = (name: string): boolean => !keywords.has(name) && /^(?:[\w./+@-]+|\[|:)$/.test(name);

const keywords: ReadonlySet<string> = new Set(
  "if then else elif fi case esac for select while until do done in function time coproc".split(" "),
);
