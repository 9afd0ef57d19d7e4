import type { Assignment, Command, ParsedScript, Redirect, SyntaxNode, Word } from "unbash";
import { expandVariables } from "../parse/expansion.ts";
import type { CommandWords } from "./nested.ts";
import { commandName, findNestedCommands } from "./unwrap.ts";
import { literalWord, literalText, possibleWords, sourceText, type PossibleWord } from "../parse/word.ts";

/** The parser of scripts, loaded by whoever needs it. */
export type ShellParser = Pick<typeof import("unbash"), "parse" | "forEachChild">;

/** Everything a script may do, in the order it is written, as far as its text tells. */
export type CommandEffects = {
  readonly events: readonly CommandEvent[];
  /** Whether something may run that cannot be seen here. */
  readonly mayRunUnseen: boolean;
  /** Texts that do not parse, or that are not a shell's. */
  readonly unparsedTexts: ReadonlySet<string>;
  /** Why it cannot be told which commands it runs; undefined where it can. */
  readonly unclearReason: string | undefined;
  /** Whether it does more, or hides it deeper, than anything honest; then not all of it was looked at. */
  readonly isTooComplex: boolean;
};

export type CommandEvent =
  | { readonly type: "run"; readonly words: CommandWords }
  | { readonly type: "write"; readonly target: PossibleWord };

/**
 * Looks for everything a script may run or write: inside substitutions, bodies,
 * functions and quotes, behind wrappers, in scripts given to other shells.
 */
export const collectEffects = (text: string, parser: ShellParser): CommandEffects => {
  const view = new EffectCollector(parser);
  view.read(text, 0);
  view.finish();
  return view;
};

const maxScriptDepth = 12;

/** How deep the syntax may be nested. Every level is read again for the one inside it. */
const maxSyntaxDepth = 100;

/** How many commands are looked at, and how many are looked for inside others: guesses inside guesses could go on without end. */
const maxEvents = 5000;
const maxNested = 500;

/** How many commands are read again with the values of their variables. */
const maxReadings = 300;

/** How many texts are read as what a shell is fed. */
const maxInputTexts = 50;

/** How many values of a variable are kept. */
const maxValues = 8;

/** How many words a command may have that runs another. */
const maxWords = 400;

/** Shell commands that evaluate their arguments as arithmetic, and with it any substitution inside. */
const evaluatingBuiltins =
  /^(?:test|\[|printf|let|declare|typeset|local|export|readonly|read|unset|mapfile|readarray)$/;

/** Where in a script one is: its text, how many scripts it lies in, and how deep in its syntax. */
type ScriptPosition = { readonly text: string; readonly depth: number; readonly level: number };

class EffectCollector implements CommandEffects {
  readonly events: CommandEvent[] = [];
  readonly unparsedTexts = new Set<string>();
  mayRunUnseen = false;
  isTooComplex = false;
  #inside = 0;
  readonly #parser: ShellParser;
  unclearReason: string | undefined;
  /** Values that variables get, which a variable in the place of a command may have. */
  readonly #assigned: string[] = [];
  /** The same by name; those of `$1` and its kin under `@`. */
  readonly #values = new Map<string, string[]>();
  readonly #functions = new Set<string>();
  readonly #aliases = new Map<string, string>();
  /** Commands that take what they read as the arguments of others. */
  readonly #argumentMakers: CommandWords[] = [];
  /** Commands with words that only a running shell knows. */
  readonly #open: { readonly words: CommandWords; readonly depth: number }[] = [];
  /** Texts that a shell may be given as its input. */
  readonly #texts: string[] = [];
  #callsVariable = false;
  #runsInput = false;
  #isGuessing = false;

  constructor(parser: ShellParser) {
    this.#parser = parser;
  }

  read(text: string, depth: number): void {
    if (depth > 0) this.#inside++;
    if (depth > maxScriptDepth || this.#inside > maxNested) this.#giveUp();
    else this.#visit(this.#parser.parse(text), { text, depth, level: 0 });
  }

  /** Reads once more what only all of the script tells: variables, arguments of functions, and what shells are fed. */
  finish(): void {
    this.#splitByOwn();
    for (const event of this.events)
      if (event.type === "run" && this.#functions.has(literalText(event.words[0] ?? []) ?? ""))
        this.#give(event.words.slice(1).map(sourceText));
    const texts = this.#callsVariable ? this.#assigned.splice(0) : [];
    for (const text of texts) this.read(text, 1);
    this.#isGuessing = true;
    this.#inside = 0;
    const seen = new Set<string>();
    for (const event of this.events.slice()) this.#callAlias(event);
    for (let next = this.#open.shift(); next !== undefined; next = this.#open.shift())
      for (const reading of expandVariables(next.words, this.#values)) {
        if (seen.has(JSON.stringify(reading))) continue;
        seen.add(JSON.stringify(reading));
        if (seen.size > maxReadings) this.#giveUp();
        else if (/[$`]/.test(literalText(reading[0] ?? []) ?? ""))
          this.read(reading.map(sourceText).join(" "), next.depth + 1);
        else this.#runInside(reading, next.depth + 1);
      }
    // What is printed, or stands in a here-document, may be what is run.
    const isRun = this.#runsInput || this.unclearReason !== undefined;
    const printed = this.#texts.splice(0, maxInputTexts);
    for (const text of isRun ? printed : []) this.read(text, 1);
    for (const words of this.#argumentMakers.splice(0, 5))
      for (const text of printed.slice(0, 10)) this.#runInside([...words, ...text.split(/\s+/).map(literalWord)], 1);
  }

  /** Where a script says how words are split, values are split that way too. */
  #splitByOwn(): void {
    const separators = [...new Set((this.#values.get("IFS") ?? []).join(""))];
    if (separators.length === 0) return;
    for (const [name, texts] of this.#values)
      this.#value(
        name,
        texts.map((text) => separators.reduce((all, separator) => all.replaceAll(separator, " "), text)),
      );
  }

  /** An alias stands for its text, with the words after it. */
  #callAlias(event: CommandEvent): void {
    const text = event.type === "run" ? this.#aliases.get(literalText(event.words[0] ?? []) ?? "") : undefined;
    if (event.type === "run" && text !== undefined)
      this.read([text, ...event.words.slice(1).map(sourceText)].join(" "), 1);
  }

  #visit(node: SyntaxNode, at: ScriptPosition): void {
    if (at.level > maxSyntaxDepth || this.events.length > maxEvents) return this.#giveUp();
    if (node.type === "Script" && hasErrors(node)) {
      this.mayRunUnseen = true;
      this.unparsedTexts.add(node.source ?? at.text);
    }
    const below = { ...at, level: at.level + 1 };
    this.#parser.forEachChild(node, (child) => this.#visit(child, below));
    this.#look(node, at.depth);
  }

  #look(node: SyntaxNode, depth: number): void {
    if (node.type === "Command") this.#command(node, depth);
    if (node.type === "Redirect") this.#redirect(node);
    if (node.type === "HereString" && node.target !== undefined)
      this.#words(node.target).forEach((word) => this.#texts.push(sourceText(word)));
    if (node.type === "HereDoc") this.#texts.push(node.body.text);
    if (node.type === "Function") this.#functions.add(node.name.value);
    // Two brackets are arithmetic to bash and one subshell in another to a plain shell.
    if (node.type === "ArithmeticCommand") this.read(node.body, depth + 1);
    if (node.type === "Assignment") this.#assign(node.name, this.#assignment(node), depth);
    if (node.type === "For" || node.type === "Select")
      for (const word of node.wordlist ?? [])
        this.#words(word).forEach((each) => this.#assign(node.name.value, each, depth));
    if (node.type === "TestUnary") this.#evaluateText(node.operand.value, depth);
    if (node.type === "TestBinary") [node.left, node.right].forEach(({ value }) => this.#evaluateText(value, depth));
  }

  #command({ name, suffix }: Command, depth: number): void {
    if (name === undefined) return;
    const words = [name, ...suffix].flatMap((item) => {
      if (item.type === "Assignment") return [this.#assignment(item)];
      return item.type === "Word" ? this.#words(item) : [];
    });
    this.#run(words, depth);
  }

  #run(words: CommandWords, depth: number): void {
    const [first] = words;
    if (first === undefined) return;
    this.events.push({ type: "run", words });
    if (words.some((word) => literalText(word) === undefined)) this.#open.push({ words, depth });
    if (literalText(first) === undefined) this.#callsVariable = true;
    if (isUnknownName(first)) this.unclearReason ??= "the name of a command in it is known only once it runs";
    const name = commandName(words) ?? "";
    const rest = words.slice(1).map(sourceText);
    if (name === "set") {
      this.#assigned.push(rest.join(" ").replace(/^.*?--/, ""));
      this.#give(rest.filter((word) => word !== "--"));
    }
    if (name === "alias")
      for (const text of rest) this.#aliases.set(text.replace(/=.*$/s, ""), text.replace(/^[^=]*=/, ""));
    if (name === "xargs" || name === "parallel") this.#argumentMakers.push(words);
    if (/^(?:echo|printf)$/.test(name)) this.#texts.push(rest.join(" "), ...rest);
    if (evaluatingBuiltins.test(name)) words.forEach((word) => this.#evaluateText(literalText(word), depth));
    const {
      runs,
      scripts,
      mayRunUnseen: unseen,
      runsInput: input,
      code,
      scriptArguments: given = [],
    } = findNestedCommands(words.slice(0, maxWords));
    if (input === true) {
      this.#runsInput = true;
      this.unclearReason ??= "a shell in it runs what it is given as input";
    }
    for (const text of code ?? []) if (/[\s("'`]/.test(text)) this.unparsedTexts.add(text);
    if (code?.every((text) => text.startsWith("-")) === true)
      this.#texts.forEach((text) => this.unparsedTexts.add(text));
    this.#give(given);
    if (words.length > maxWords && runs.length + scripts.length > 0) this.#giveUp();
    this.mayRunUnseen ||= unseen;
    this.#inside += runs.length;
    for (const run of runs) this.#runInside(run, depth + 1);
    for (const script of scripts) this.read(script, depth + 1);
  }

  #runInside(words: CommandWords, depth: number): void {
    if (depth > maxScriptDepth || this.#inside > maxNested) this.#giveUp();
    else this.#run(words, depth);
  }

  /** Too much to look at: all of it is refused, but for guesses about what variables and texts may come to. */
  #giveUp(): void {
    if (this.#isGuessing) this.unclearReason ??= "it holds more variables and texts than can be followed";
    else this.isTooComplex = true;
  }

  /** Notes what `$1` and its kin may hold. */
  #give(texts: readonly string[]): void {
    if (texts.length > 0) this.#value("@", [texts.join(" "), ...texts]);
  }

  #value(name: string, texts: readonly string[]): void {
    this.#values.set(name, [...(this.#values.get(name) ?? []), ...texts].slice(0, maxValues));
  }

  #redirect({ operator, target }: Redirect): void {
    if (target === undefined || operator === "<" || operator === "<&") return;
    for (const word of this.#words(target)) {
      if (operator !== ">&" || !/^(?:\d+-?|-)$/.test(sourceText(word)))
        this.events.push({ type: "write", target: word });
    }
  }

  #assign(name: string, value: PossibleWord, depth: number): void {
    const text = sourceText(value).replace(/^\w+\+?=/, "");
    this.#assigned.push(text);
    this.#value(name, [text]);
    this.#evaluateText(literalText(value), depth);
  }

  /** A quoted substitution runs once its text is evaluated again. */
  #evaluateText(text: string | undefined, depth: number): void {
    if (text !== undefined && /\$\(|`/.test(text)) this.read(text, depth + 1);
  }

  #assignment({ name, text, value }: Assignment): PossibleWord {
    return value.type === "Word" ? [`${name}=`, ...(this.#words(value)[0] ?? [])] : [{ unknown: text }];
  }

  #words(word: Word): readonly PossibleWord[] {
    return possibleWords(word, (text) => {
      const command = this.#parser.parse(text).commands[0]?.command;
      if (command?.type !== "Command" || command.name === undefined) return [];
      return [command.name, ...command.suffix.filter((item) => item.type === "Word")];
    });
  }
}

/** Whether the last part of a command's name is known only once it runs. */
const isUnknownName = (word: PossibleWord): boolean => {
  const slash = word.findLastIndex((piece) => typeof piece === "string" && piece.includes("/"));
  return word.slice(slash + 1).some((piece) => typeof piece !== "string") || /\{\}/.test(sourceText(word));
};

const hasErrors = ({ errors }: ParsedScript): boolean => (errors?.length ?? 0) > 0;
