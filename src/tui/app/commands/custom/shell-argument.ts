/**
 * Quotes a value for its place in a shell command, by the text before it: outside of quotes, in single quotes or in
 * double quotes. Undefined where no quoting is safe: after an escape, a substitution, a here-document or a comment.
 */
export const quoteForShell = (value: string, before: string): string | undefined => {
  if (value.includes("\0")) return undefined;
  switch (quotingAt(before)) {
    case "none":
      return value === "" ? "" : `'${escapeSingle(value)}'`;
    case "single":
      return escapeSingle(value);
    case "double":
      return value.replaceAll(/[\\"$`]/g, "\\$&");
    case "unsafe":
      return undefined;
  }
};

const escapeSingle = (value: string): string => value.replaceAll("'", String.raw`'\''`);

/** How the shell would read a character after a text. */
const quotingAt = (before: string): "none" | "single" | "double" | "unsafe" => {
  let state: "none" | "single" | "double" = "none";
  for (let at = 0; at < before.length; at += 1) {
    const character = before[at];
    if (state === "single") {
      if (character === "'") state = "none";
    } else if (character === "\\") {
      at += 1;
      if (at >= before.length) return "unsafe";
    } else if (character === "`" || (character === "$" && /[({'"[]/.test(before[at + 1] ?? ""))) return "unsafe";
    else if (character === '"') state = state === "double" ? "none" : "double";
    else if (state === "none") {
      if (character === "'") state = "single";
      if (before.startsWith("<<", at) || (character === "#" && /(?:^|[\s;&|(])$/.test(before.slice(0, at))))
        return "unsafe";
    }
  }
  return before.endsWith("$") && state !== "single" ? "unsafe" : state;
};
