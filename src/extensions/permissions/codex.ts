import type { RuleList } from "../../policy/trust/stored-rules.ts";
import { parseSpecifier } from "../../policy/gate/tool-specifier.ts";
import { scopeOfCommand, type CallScope } from "./restrictions.ts";
import { parseStarlarkCalls, type StarlarkValue } from "./starlark.ts";
import { mergeTranslated, translated, untranslated, type TranslatedPermissions } from "./source-rules.ts";

/** Translates a `.rules` file of Codex: calls of `prefix_rule`. The strictest rule wins there as here. */
export const translateCodexRules = (text: string): TranslatedPermissions => {
  const { calls, problem } = parseStarlarkCalls(text);
  return mergeTranslated([
    ...calls.map(({ name, values, source }) =>
      name === "prefix_rule"
        ? translatePrefixRule(values, source)
        : untranslated(source, `${name} has no counterpart here`),
    ),
    ...(problem === undefined ? [] : [untranslated(problem.source, problem.reason, anyCommand)]),
  ]);
};

const anyCommand: CallScope = { tool: "run_shell_command" };

const lists: { readonly [decision: string]: RuleList } = { allow: "allow", prompt: "ask", forbidden: "deny" };

const translatePrefixRule = (values: ReadonlyMap<string, StarlarkValue>, source: string): TranslatedPermissions => {
  const decision = values.get("decision") ?? "allow";
  const list = typeof decision === "string" && Object.hasOwn(lists, decision) ? lists[decision] : undefined;
  if (list === undefined) return untranslated(source, "its decision is not allow, prompt or forbidden", anyCommand);
  const leaveOut = (reason: string, scope: CallScope): TranslatedPermissions =>
    untranslated(source, reason, ...(list === "allow" ? [] : [scope]));
  const pattern = values.get("pattern");
  const commands = Array.isArray(pattern) ? listCommands(pattern as readonly StarlarkValue[]) : undefined;
  if (commands === undefined || commands.length === 0)
    return leaveOut("its pattern is not a list of words", anyCommand);
  if (commands.length > maxCommands) return leaveOut("its pattern has too many alternatives", anyCommand);
  return mergeTranslated(
    commands.map((words) => {
      const isPlain = words.every((word) => !/[\s*]/.test(word) && word !== "");
      const parsed = isPlain ? parseSpecifier(`Bash(${words.join(" ")}:*)`) : undefined;
      if (parsed === undefined || "problem" in parsed)
        return leaveOut(parsed?.problem ?? "a word of its pattern has spaces or *", scopeOfCommand(words.join(" ")));
      return translated(list, parsed.rule, `${words.join(" ")} (${String(decision)})`);
    }),
  );
};

const maxCommands = 100;

/** The commands a pattern means: each list in it stands for alternatives. */
const listCommands = (pattern: readonly StarlarkValue[]): readonly (readonly string[])[] | undefined => {
  let commands: readonly (readonly string[])[] = [[]];
  for (const part of pattern) {
    const words = Array.isArray(part) ? (part as readonly StarlarkValue[]) : [part];
    const texts = words.filter((word) => typeof word === "string");
    if (texts.length !== words.length || texts.length === 0) return undefined;
    commands = commands.flatMap((command) => texts.map((word) => [...command, word]));
    if (commands.length > maxCommands) return commands;
  }
  return commands.every((words) => words.length > 0) ? commands : undefined;
};
