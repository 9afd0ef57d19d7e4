import { parseOptions } from "./options.ts";
import { readOnlyProfile, exactRuleProfile, type CommandClassifier } from "./profile.ts";

/** Classifies sed: scripts that print, delete, substitute or quit are read-only. Its other commands write files or run programs. */
export const classifySed: CommandClassifier = (words) => {
  const options = parseOptions(words.slice(1), {
    flags: "nErsuz",
    values: { text: "e" },
    long: "quiet silent regexp-extended separate unbuffered null-data posix sandbox",
    longValues: { text: "expression" },
    operands: "text",
  });
  if (typeof options === "string") return exactRuleProfile(words, options);
  const scriptOptions = options.options.flatMap(({ name, value }) =>
    /^e(?:xpression)?$/.test(name) ? [value ?? ""] : [],
  );
  const [scripts, files] =
    scriptOptions.length > 0
      ? [scriptOptions, options.operands]
      : [options.operands.slice(0, 1), options.operands.slice(1)];
  return scripts.length > 0 && scripts.every(isHarmlessScript)
    ? readOnlyProfile(files)
    : exactRuleProfile(words, "the script is not known to be read-only");
};

/** Whether a script consists only of harmless commands, separated by semicolons or newlines. */
const isHarmlessScript = (script: string): boolean => {
  let rest = script.trimStart();
  while (rest !== "") {
    const after = skipCommand(skipAddresses(rest).replace(/^\s*!?\s*/, ""))?.replace(/^[ \t]+/, "");
    if (after === undefined || (after !== "" && !/^[;\n]/.test(after))) return false;
    rest = after.replace(/^[;\s]+/, "");
  }
  return true;
};

const skipAddresses = (text: string): string => text.replace(address, "").replace(secondAddress, "");

/** A pattern up to a delimiter. A delimiter inside brackets ends the pattern in some versions only, so it is not accepted. */
const patternUntil = (end: string): string =>
  String.raw`(?:[^\\[\n` + end + String.raw`]|\\[^\n]|\[\^?[^\\\]\n` + end + String.raw`]+\])*`;

const oneAddress = `(?:\\d+|\\$|/${patternUntil("/")}/I?)`;
const address = new RegExp(`^${oneAddress}`);
const secondAddress = new RegExp(`^,(?:[+~]\\d+|${oneAddress})`);

/** Returns the text after the first command; undefined if that command is not harmless. */
const skipCommand = (text: string): string | undefined => {
  const simple = /^(?:[pd=lnN]|[qQ]\d*)/.exec(text)?.[0];
  if (simple !== undefined) return text.slice(simple.length);
  const end = /^s([/|#,@:])/.exec(text)?.[1];
  if (end === undefined) return undefined;
  const replacement = String.raw`(?:[^\\\n` + end + String.raw`]|\\[^\n])*`;
  const substitution = new RegExp(`^s[${end}]${patternUntil(end)}[${end}]${replacement}[${end}][gpiI\\d]*`).exec(
    text,
  )?.[0];
  return substitution === undefined ? undefined : text.slice(substitution.length);
};
