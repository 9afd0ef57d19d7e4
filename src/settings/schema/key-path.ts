/** The keys that lead to a value in a settings file. */
export type KeyPath = readonly string[];

/** Formats a key path with dots; a key that contains a dot is in double quotes. */
export const formatKeyPath = (path: KeyPath): string =>
  path.map((name) => (plainName.test(name) ? name : JSON.stringify(name))).join(".");

const plainName = /^[^\s."\p{Cc}]+$/u;

/** Parses the format of `formatKeyPath`; undefined if it is invalid. */
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
