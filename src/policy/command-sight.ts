import type { Assignment, Command, ParsedScript, Redirect, SyntaxNode, Word } from "unbash";
import type { Words } from "./command-inside.ts";
import { nameOf, openCommand } from "./command-open.ts";
import { literalOf, possibleWords, spelled, type PossibleWord } from "./command-word.ts";

/** The parser of scripts, loaded by whoever needs it. */
export type Parser = Pick<typeof import("unbash"), "parse" | "forEachChild">;

/** Everything a script may do, in the order it is written, as far as its text tells. */
export type Sight = {
  readonly events: readonly SeenEvent[];
  /** Whether something may run that cannot be seen here. */
  readonly unseen: boolean;
  /** Texts that do not parse. */
  readonly unread: ReadonlySet<string>;
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
  view.callAssigned();
  return view;
};

const deepest = 12;

/** How deep the syntax may be nested. Every level is read again for the one inside it. */
const deepestSyntax = 100;

/** How many commands are looked at, and how many are looked for inside others: guesses inside guesses could go on without end. */
const mostEvents = 5000;
const mostInside = 500;

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
  /** Values that variables get, which a variable in the place of a command may have. */
  readonly #assigned: string[] = [];
  #callsVariable = false;

  constructor(parser: Parser) {
    this.#parser = parser;
  }

  read(text: string, depth: number): void {
    if (depth > 0) this.#inside++;
    if (depth > deepest || this.#inside > mostInside) this.excess = true;
    else this.#visit(this.#parser.parse(text), { text, depth, level: 0 });
  }

  /** Reads what variables hold, where a command is called through one. */
  callAssigned(): void {
    const texts = this.#callsVariable ? this.#assigned.splice(0) : [];
    for (const text of texts) this.read(text, 1);
  }

  #visit(node: SyntaxNode, at: Standpoint): void {
    if (at.level > deepestSyntax || this.events.length > mostEvents) {
      this.excess = true;
      return;
    }
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
    // Two brackets are arithmetic to bash and one subshell in another to a plain shell.
    if (node.type === "ArithmeticCommand") this.read(node.body, depth + 1);
    if (node.type === "Assignment") this.#assign(this.#assignment(node), depth);
    if (node.type === "For" || node.type === "Select")
      for (const word of node.wordlist ?? []) this.#words(word).forEach((each) => this.#assign(each, depth));
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
    if (literalOf(first) === undefined) this.#callsVariable = true;
    if (nameOf(words) === "set")
      this.#assigned.push(
        words
          .slice(1)
          .map(spelled)
          .join(" ")
          .replace(/^.*?--/, ""),
      );
    if (evaluating.test(nameOf(words) ?? "")) words.forEach((word) => this.#evaluateText(literalOf(word), depth));
    const { runs, scripts, unseen } = openCommand(words.slice(0, mostWords));
    if (words.length > mostWords && runs.length + scripts.length > 0) this.excess = true;
    this.unseen ||= unseen;
    this.#inside += runs.length;
    if (runs.length > 0 && (depth >= deepest || this.#inside > mostInside)) this.excess = true;
    else for (const run of runs) this.#run(run, depth + 1);
    for (const script of scripts) this.read(script, depth + 1);
  }

  #redirect({ operator, target }: Redirect): void {
    if (target === undefined || operator === "<" || operator === "<&") return;
    for (const word of this.#words(target)) {
      if (operator !== ">&" || !/^(?:\d+-?|-)$/.test(spelled(word))) this.events.push({ type: "write", target: word });
    }
  }

  #assign(value: PossibleWord, depth: number): void {
    this.#assigned.push(spelled(value).replace(/^\w+\+?=/, ""));
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

const hasErrors = ({ errors }: ParsedScript): boolean => (errors?.length ?? 0) > 0;
