/** The names that lead to a value in a settings file. */
export type KeyPath = readonly string[];

/** A path as people write it: names with dots between; a name that holds a dot stands in double quotes. */
export const formatKeyPath = (path: KeyPath): string =>
  path.map((name) => (plainName.test(name) ? name : JSON.stringify(name))).join(".");

const plainName = /^[^\s."\p{Cc}]+$/u;

/** Reads what `pathText` writes; undefined where it is no path. */
export const parseKeyPath = (text: string): KeyPath | undefined => {
  const names: string[] = [];
  for (let at = 0; at <= text.length; at++) {
    const [found = "", quoted, plain] = matchName(text, at);
    const name = quoted === undefined ? plain : parseQuoted(quoted);
    at += found.length;
    if (name === undefined || (at < text.length && text[at] !== ".")) return undefined;
    names.push(name);
  }
  return names;
};

const matchName = (text: string, at: number): readonly (string | undefined)[] => {
  const name = /("(?:[^"\\]|\\.)*")|([^\s."\p{Cc}]+)/uy;
  name.lastIndex = at;
  return name.exec(text) ?? [];
};

const parseQuoted = (text: string): string | undefined => {
  try {
    return JSON.parse(text) as string;
  } catch {
    return undefined;
  }
};
