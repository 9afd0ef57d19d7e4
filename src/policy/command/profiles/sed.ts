import { parseOptions } from "./options.ts";
import { readOnlyProfile, exactRuleProfile, type CommandClassifier } from "./profile.ts";

/** sed, as long as its script prints, deletes, substitutes or quits. Its other commands write files, or run programs. */
export const classifySed: CommandClassifier = (words) => {
  const options = parseOptions(words.slice(1), {
    flags: "nErsuz",
    values: { text: "e" },
    long: "quiet silent regexp-extended separate unbuffered null-data posix sandbox",
    longValues: { text: "expression" },
    operands: "text",
  });
  if (typeof options === "string") return exactRuleProfile(words, options);
  const given = options.options.flatMap(({ name, value }) => (/^e(?:xpression)?$/.test(name) ? [value ?? ""] : []));
  const [scripts, files] =
    given.length > 0 ? [given, options.operands] : [options.operands.slice(0, 1), options.operands.slice(1)];
  return scripts.length > 0 && scripts.every(isHarmlessScript)
    ? readOnlyProfile(files)
    : exactRuleProfile(words, "its script is not known to only print");
};

/** Commands with semicolons or newlines between them. All of it must be understood. */
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

/** What stands after a pattern. A delimiter inside brackets ends a pattern in some versions and not in others: it is not understood. */
const patternUntil = (end: string): string =>
  String.raw`(?:[^\\[\n` + end + String.raw`]|\\[^\n]|\[\^?[^\\\]\n` + end + String.raw`]+\])*`;

const oneAddress = `(?:\\d+|\\$|/${patternUntil("/")}/I?)`;
const address = new RegExp(`^${oneAddress}`);
const secondAddress = new RegExp(`^,(?:[+~]\\d+|${oneAddress})`);

/** What is left after the first command; undefined where it is not a harmless one. */
const skipCommand = (text: string): string | undefined => {
  const simple = /^(?:[pd=lnN]|[qQ]\d*)/.exec(text)?.[0];
  if (simple !== undefined) return text.slice(simple.length);
  const end = /^s([/|#,@:])/.exec(text)?.[1];
  if (end === undefined) return undefined;
  const replacement = String.raw`(?:[^\\\n` + end + String.raw`]|\\[^\n])*`;
  const whole = new RegExp(`^s[${end}]${patternUntil(end)}[${end}]${replacement}[${end}][gpiI\\d]*`).exec(text)?.[0];
  return whole === undefined ? undefined : text.slice(whole.length);
};
