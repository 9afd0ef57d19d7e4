import type { Assignment, Command, ParsedScript, Redirect, SyntaxNode, Word } from "unbash";
import { otherReadings } from "./command-expansion.ts";
import type { Words } from "./command-inside.ts";
import { nameOf, openCommand } from "./command-open.ts";
import { known, literalOf, possibleWords, spelled, type PossibleWord } from "./command-word.ts";

/** The parser of scripts, loaded by whoever needs it. */
export type Parser = Pick<typeof import("unbash"), "parse" | "forEachChild">;

/** Everything a script may do, in the order it is written, as far as its text tells. */
export type Sight = {
  readonly events: readonly SeenEvent[];
  /** Whether something may run that cannot be seen here. */
  readonly unseen: boolean;
  /** Texts that do not parse, or that are not a shell's. */
  readonly unread: ReadonlySet<string>;
  /** Why it cannot be told which commands it runs; undefined where it can. */
  readonly unclear: string | undefined;
  /** Whether it does more, or hides it deeper, than anything honest; then not all of it was looked at. */
  readonly excess: boolean;
};

export type SeenEvent =
  | { readonly type: "run"; readonly words: Words }
  | { readonly type: "write"; readonly target: PossibleWord };

/**
 * Looks for everything a script may run or write: inside substitutions, bodies,
 * functions and quotes, behind wrappers, in scripts given to other shells.
 */
export const see = (text: string, parser: Parser): Sight => {
  const view = new View(parser);
  view.read(text, 0);
  view.finish();
  return view;
};

const deepest = 12;

/** How deep the syntax may be nested. Every level is read again for the one inside it. */
const deepestSyntax = 100;

/** How many commands are looked at, and how many are looked for inside others: guesses inside guesses could go on without end. */
const mostEvents = 5000;
const mostInside = 500;

/** How many commands are read again with the values of their variables. */
const mostReadings = 300;

/** How many texts are read as what a shell is fed. */
const mostTexts = 50;

/** How many values of a variable are kept. */
const mostValues = 8;

/** How many words a command may have that runs another. */
const mostWords = 400;

/** Shell commands that evaluate their arguments as arithmetic, and with it any substitution inside. */
const evaluating = /^(?:test|\[|printf|let|declare|typeset|local|export|readonly|read|unset|mapfile|readarray)$/;

/** Where in a script one is: its text, how many scripts it lies in, and how deep in its syntax. */
type Standpoint = { readonly text: string; readonly depth: number; readonly level: number };

class View implements Sight {
  readonly events: SeenEvent[] = [];
  readonly unread = new Set<string>();
  unseen = false;
  excess = false;
  #inside = 0;
  readonly #parser: Parser;
  unclear: string | undefined;
  /** Values that variables get, which a variable in the place of a command may have. */
  readonly #assigned: string[] = [];
  /** The same by name; those of `$1` and its kin under `@`. */
  readonly #values = new Map<string, string[]>();
  readonly #functions = new Set<string>();
  readonly #aliases = new Map<string, string>();
  /** Commands that take what they read as the arguments of others. */
  readonly #argumentMakers: Words[] = [];
  /** Commands with words that only a running shell knows. */
  readonly #open: { readonly words: Words; readonly depth: number }[] = [];
  /** Texts that a shell may be given as its input. */
  readonly #texts: string[] = [];
  #callsVariable = false;
  #runsInput = false;
  #isGuessing = false;

  constructor(parser: Parser) {
    this.#parser = parser;
  }

  read(text: string, depth: number): void {
    if (depth > 0) this.#inside++;
    if (depth > deepest || this.#inside > mostInside) this.#giveUp();
    else this.#visit(this.#parser.parse(text), { text, depth, level: 0 });
  }

  /** Reads once more what only all of the script tells: variables, arguments of functions, and what shells are fed. */
  finish(): void {
    this.#splitByOwn();
    for (const event of this.events)
      if (event.type === "run" && this.#functions.has(literalOf(event.words[0] ?? []) ?? ""))
        this.#give(event.words.slice(1).map(spelled));
    const texts = this.#callsVariable ? this.#assigned.splice(0) : [];
    for (const text of texts) this.read(text, 1);
    this.#isGuessing = true;
    this.#inside = 0;
    const seen = new Set<string>();
    for (const event of this.events.slice()) this.#callAlias(event);
    for (let next = this.#open.shift(); next !== undefined; next = this.#open.shift())
      for (const reading of otherReadings(next.words, this.#values)) {
        if (seen.has(JSON.stringify(reading))) continue;
        seen.add(JSON.stringify(reading));
        if (seen.size > mostReadings) this.#giveUp();
        else if (/[$`]/.test(literalOf(reading[0] ?? []) ?? ""))
          this.read(reading.map(spelled).join(" "), next.depth + 1);
        else this.#runInside(reading, next.depth + 1);
      }
    // What is printed, or stands in a here-document, may be what is run.
    const isRun = this.#runsInput || this.unclear !== undefined;
    const printed = this.#texts.splice(0, mostTexts);
    for (const text of isRun ? printed : []) this.read(text, 1);
    for (const words of this.#argumentMakers.splice(0, 5))
      for (const text of printed.slice(0, 10)) this.#runInside([...words, ...text.split(/\s+/).map(known)], 1);
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
  #callAlias(event: SeenEvent): void {
    const text = event.type === "run" ? this.#aliases.get(literalOf(event.words[0] ?? []) ?? "") : undefined;
    if (event.type === "run" && text !== undefined)
      this.read([text, ...event.words.slice(1).map(spelled)].join(" "), 1);
  }

  #visit(node: SyntaxNode, at: Standpoint): void {
    if (at.level > deepestSyntax || this.events.length > mostEvents) return this.#giveUp();
    if (node.type === "Script" && hasErrors(node)) {
      this.unseen = true;
      this.unread.add(node.source ?? at.text);
    }
    const below = { ...at, level: at.level + 1 };
    this.#parser.forEachChild(node, (child) => this.#visit(child, below));
    this.#look(node, at.depth);
  }

  #look(node: SyntaxNode, depth: number): void {
    if (node.type === "Command") this.#command(node, depth);
    if (node.type === "Redirect") this.#redirect(node);
    if (node.type === "HereString" && node.target !== undefined)
      this.#words(node.target).forEach((word) => this.#texts.push(spelled(word)));
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

  #run(words: Words, depth: number): void {
    const [first] = words;
    if (first === undefined) return;
    this.events.push({ type: "run", words });
    if (words.some((word) => literalOf(word) === undefined)) this.#open.push({ words, depth });
    if (literalOf(first) === undefined) this.#callsVariable = true;
    if (isOpenName(first)) this.unclear ??= "the name of a command in it is known only once it runs";
    const name = nameOf(words) ?? "";
    const rest = words.slice(1).map(spelled);
    if (name === "set") {
      this.#assigned.push(rest.join(" ").replace(/^.*?--/, ""));
      this.#give(rest.filter((word) => word !== "--"));
    }
    if (name === "alias")
      for (const text of rest) this.#aliases.set(text.replace(/=.*$/s, ""), text.replace(/^[^=]*=/, ""));
    if (name === "xargs" || name === "parallel") this.#argumentMakers.push(words);
    if (/^(?:echo|printf)$/.test(name)) this.#texts.push(rest.join(" "), ...rest);
    if (evaluating.test(name)) words.forEach((word) => this.#evaluateText(literalOf(word), depth));
    const { runs, scripts, unseen, input, code, given = [] } = openCommand(words.slice(0, mostWords));
    if (input === true) {
      this.#runsInput = true;
      this.unclear ??= "a shell in it runs what it is given as input";
    }
    for (const text of code ?? []) if (/[\s("'`]/.test(text)) this.unread.add(text);
    if (code?.every((text) => text.startsWith("-")) === true) this.#texts.forEach((text) => this.unread.add(text));
    this.#give(given);
    if (words.length > mostWords && runs.length + scripts.length > 0) this.#giveUp();
    this.unseen ||= unseen;
    this.#inside += runs.length;
    for (const run of runs) this.#runInside(run, depth + 1);
    for (const script of scripts) this.read(script, depth + 1);
  }

  #runInside(words: Words, depth: number): void {
    if (depth > deepest || this.#inside > mostInside) this.#giveUp();
    else this.#run(words, depth);
  }

  /** Too much to look at: all of it is refused, but for guesses about what variables and texts may come to. */
  #giveUp(): void {
    if (this.#isGuessing) this.unclear ??= "it holds more variables and texts than can be followed";
    else this.excess = true;
  }

  /** Notes what `$1` and its kin may hold. */
  #give(texts: readonly string[]): void {
    if (texts.length > 0) this.#value("@", [texts.join(" "), ...texts]);
  }

  #value(name: string, texts: readonly string[]): void {
    this.#values.set(name, [...(this.#values.get(name) ?? []), ...texts].slice(0, mostValues));
  }

  #redirect({ operator, target }: Redirect): void {
    if (target === undefined || operator === "<" || operator === "<&") return;
    for (const word of this.#words(target)) {
      if (operator !== ">&" || !/^(?:\d+-?|-)$/.test(spelled(word))) this.events.push({ type: "write", target: word });
    }
  }

  #assign(name: string, value: PossibleWord, depth: number): void {
    const text = spelled(value).replace(/^\w+\+?=/, "");
    this.#assigned.push(text);
    this.#value(name, [text]);
    this.#evaluateText(literalOf(value), depth);
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
const isOpenName = (word: PossibleWord): boolean => {
  const slash = word.findLastIndex((piece) => typeof piece === "string" && piece.includes("/"));
  return word.slice(slash + 1).some((piece) => typeof piece !== "string") || /\{\}/.test(spelled(word));
};

const hasErrors = ({ errors }: ParsedScript): boolean => (errors?.length ?? 0) > 0;
