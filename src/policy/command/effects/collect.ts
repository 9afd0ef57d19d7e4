import type { Assignment, Command, ParsedScript, Redirect, SyntaxNode, Word } from "unbash";
import { expandVariables } from "../parse/expansion.ts";
import type { CommandWords } from "./nested.ts";
import { commandName, findNestedCommands } from "./unwrap.ts";
import { literalWord, literalText, possibleWords, sourceText, type PossibleWord } from "../parse/word.ts";

/** The shell parser, passed in so that it is loaded only when needed. */
export type ShellParser = Pick<typeof import("unbash"), "parse" | "forEachChild">;

/** Everything a script may do, in the order it is written, as far as its text shows. */
export type CommandEffects = {
  readonly events: readonly CommandEvent[];
  /** Whether it may run commands that are not in its text. */
  readonly mayRunUnseen: boolean;
  /** Texts that do not parse, or are in another language than the shell's. */
  readonly unparsedTexts: ReadonlySet<string>;
  /** Why the commands it runs cannot be determined; undefined if they can. */
  readonly unclearReason: string | undefined;
  /** Whether it exceeds the limits below; then it was analyzed only in part. */
  readonly isTooComplex: boolean;
};

export type CommandEvent =
  | { readonly type: "run"; readonly words: CommandWords }
  | { readonly type: "write"; readonly target: PossibleWord };

/**
 * Collects everything a script may run or write: inside substitutions, function bodies and quotes, behind
 * wrappers, and in scripts passed to other shells.
 */
export const collectEffects = (text: string, parser: ShellParser): CommandEffects => {
  const collector = new EffectCollector(parser);
  collector.read(text, 0);
  collector.finish();
  return collector;
};

const maxScriptDepth = 12;

/** How deep the syntax may be nested. Every level is parsed again for the one inside it. */
const maxSyntaxDepth = 100;

/** How many commands are collected, and how many nested ones are followed: guesses inside guesses could be endless. */
const maxEvents = 5000;
const maxNested = 500;

/** How many commands are analyzed again with the values of their variables. */
const maxReadings = 300;

/** How many texts are analyzed as input of a shell. */
const maxInputTexts = 50;

/** How many values of a variable are kept. */
const maxValues = 8;

/** How many words a command that runs another may have. */
const maxWords = 400;

/** Builtins that evaluate their arguments as arithmetic, and thereby any substitution in them. */
const evaluatingBuiltins =
  /^(?:test|\[|printf|let|declare|typeset|local|export|readonly|read|unset|mapfile|readarray)$/;

/** A position in a script: the script's text, how many scripts it is nested in, and how deep in the syntax. */
type ScriptPosition = { readonly text: string; readonly depth: number; readonly level: number };

class EffectCollector implements CommandEffects {
  readonly events: CommandEvent[] = [];
  readonly unparsedTexts = new Set<string>();
  mayRunUnseen = false;
  isTooComplex = false;
  #nestedCount = 0;
  readonly #parser: ShellParser;
  unclearReason: string | undefined;
  /** Values assigned to variables, which may be used as a command. */
  readonly #assigned: string[] = [];
  /** The same by name; positional parameters (`$1`) under `@`. */
  readonly #values = new Map<string, string[]>();
  readonly #functions = new Set<string>();
  readonly #aliases = new Map<string, string>();
  /** Commands that build the arguments of others from their input (`xargs`). */
  readonly #argumentMakers: CommandWords[] = [];
  /** Commands with words that are known only at run time. */
  readonly #unresolved: { readonly words: CommandWords; readonly depth: number }[] = [];
  /** Texts that may be the input of a shell. */
  readonly #texts: string[] = [];
  #callsVariable = false;
  #runsInput = false;
  #isGuessing = false;

  constructor(parser: ShellParser) {
    this.#parser = parser;
  }

  read(text: string, depth: number): void {
    if (depth > 0) this.#nestedCount++;
    if (depth > maxScriptDepth || this.#nestedCount > maxNested) this.#exceedLimit();
    else this.#visit(this.#parser.parse(text), { text, depth, level: 0 });
  }

  /** Second pass, when the whole script is known: variables, function arguments, and input of shells. */
  finish(): void {
    this.#splitByIfs();
    for (const event of this.events)
      if (event.type === "run" && this.#functions.has(literalText(event.words[0] ?? []) ?? ""))
        this.#addPositional(event.words.slice(1).map(sourceText));
    const texts = this.#callsVariable ? this.#assigned.splice(0) : [];
    for (const text of texts) this.read(text, 1);
    this.#isGuessing = true;
    this.#nestedCount = 0;
    const seen = new Set<string>();
    for (const event of this.events.slice()) this.#expandAlias(event);
    for (let next = this.#unresolved.shift(); next !== undefined; next = this.#unresolved.shift())
      for (const reading of expandVariables(next.words, this.#values)) {
        if (seen.has(JSON.stringify(reading))) continue;
        seen.add(JSON.stringify(reading));
        if (seen.size > maxReadings) this.#exceedLimit();
        else if (/[$`]/.test(literalText(reading[0] ?? []) ?? ""))
          this.read(reading.map(sourceText).join(" "), next.depth + 1);
        else this.#runNested(reading, next.depth + 1);
      }
    // Printed text and here-documents may be the input of a shell.
    const isRun = this.#runsInput || this.unclearReason !== undefined;
    const printed = this.#texts.splice(0, maxInputTexts);
    for (const text of isRun ? printed : []) this.read(text, 1);
    for (const words of this.#argumentMakers.splice(0, 5))
      for (const text of printed.slice(0, 10)) this.#runNested([...words, ...text.split(/\s+/).map(literalWord)], 1);
  }

  /** If a script sets IFS, values are also split that way. */
  #splitByIfs(): void {
    const separators = [...new Set((this.#values.get("IFS") ?? []).join(""))];
    if (separators.length === 0) return;
    for (const [name, texts] of this.#values)
      this.#addValue(
        name,
        texts.map((text) => separators.reduce((all, separator) => all.replaceAll(separator, " "), text)),
      );
  }

  /** Replaces an alias by its text, followed by the command's arguments. */
  #expandAlias(event: CommandEvent): void {
    const text = event.type === "run" ? this.#aliases.get(literalText(event.words[0] ?? []) ?? "") : undefined;
    if (event.type === "run" && text !== undefined)
      this.read([text, ...event.words.slice(1).map(sourceText)].join(" "), 1);
  }

  #visit(node: SyntaxNode, at: ScriptPosition): void {
    if (at.level > maxSyntaxDepth || this.events.length > maxEvents) return this.#exceedLimit();
    if (node.type === "Script" && hasErrors(node)) {
      this.mayRunUnseen = true;
      this.unparsedTexts.add(node.source ?? at.text);
    }
    const below = { ...at, level: at.level + 1 };
    this.#parser.forEachChild(node, (child) => this.#visit(child, below));
    this.#visitNode(node, at.depth);
  }

  #visitNode(node: SyntaxNode, depth: number): void {
    if (node.type === "Command") this.#command(node, depth);
    if (node.type === "Redirect") this.#redirect(node);
    if (node.type === "HereString" && node.target !== undefined)
      this.#words(node.target).forEach((word) => this.#texts.push(sourceText(word)));
    if (node.type === "HereDoc") this.#texts.push(node.body.text);
    if (node.type === "Function") this.#functions.add(node.name.value);
    // `((` is arithmetic in bash and two nested subshells in other shells.
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
    if (words.some((word) => literalText(word) === undefined)) this.#unresolved.push({ words, depth });
    if (literalText(first) === undefined) this.#callsVariable = true;
    if (isUnknownName(first)) this.unclearReason ??= "a command name is known only at run time";
    const name = commandName(words) ?? "";
    const rest = words.slice(1).map(sourceText);
    if (name === "set") {
      this.#assigned.push(rest.join(" ").replace(/^.*?--/, ""));
      this.#addPositional(rest.filter((word) => word !== "--"));
    }
    if (name === "alias")
      for (const text of rest) this.#aliases.set(text.replace(/=.*$/s, ""), text.replace(/^[^=]*=/, ""));
    if (name === "xargs" || name === "parallel") this.#argumentMakers.push(words);
    if (/^(?:echo|printf)$/.test(name)) this.#texts.push(rest.join(" "), ...rest);
    if (evaluatingBuiltins.test(name)) words.forEach((word) => this.#evaluateText(literalText(word), depth));
    const {
      runs,
      scripts,
      mayRunUnseen,
      runsInput,
      code,
      scriptArguments = [],
    } = findNestedCommands(words.slice(0, maxWords));
    if (runsInput === true) {
      this.#runsInput = true;
      this.unclearReason ??= "a shell runs its input";
    }
    for (const text of code ?? []) if (/[\s("'`]/.test(text)) this.unparsedTexts.add(text);
    if (code?.every((text) => text.startsWith("-")) === true)
      this.#texts.forEach((text) => this.unparsedTexts.add(text));
    this.#addPositional(scriptArguments);
    if (words.length > maxWords && runs.length + scripts.length > 0) this.#exceedLimit();
    this.mayRunUnseen ||= mayRunUnseen;
    this.#nestedCount += runs.length;
    for (const nested of runs) this.#runNested(nested, depth + 1);
    for (const script of scripts) this.read(script, depth + 1);
  }

  #runNested(words: CommandWords, depth: number): void {
    if (depth > maxScriptDepth || this.#nestedCount > maxNested) this.#exceedLimit();
    else this.#run(words, depth);
  }

  /** Stops at a limit: the whole script is denied, unless only guesses about variables and texts exceeded it. */
  #exceedLimit(): void {
    if (this.#isGuessing) this.unclearReason ??= "it has too many variables and texts to follow";
    else this.isTooComplex = true;
  }

  /** Records possible values of positional parameters (`$1`). */
  #addPositional(texts: readonly string[]): void {
    if (texts.length > 0) this.#addValue("@", [texts.join(" "), ...texts]);
  }

  #addValue(name: string, texts: readonly string[]): void {
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
    this.#addValue(name, [text]);
    this.#evaluateText(literalText(value), depth);
  }

  /** A quoted substitution runs when its text is evaluated again. */
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

/** Whether the last part of a command's name is known only at run time. */
const isUnknownName = (word: PossibleWord): boolean => {
  const slash = word.findLastIndex((piece) => typeof piece === "string" && piece.includes("/"));
  return word.slice(slash + 1).some((piece) => typeof piece !== "string") || /\{\}/.test(sourceText(word));
};

const hasErrors = ({ errors }: ParsedScript): boolean => (errors?.length ?? 0) > 0;
