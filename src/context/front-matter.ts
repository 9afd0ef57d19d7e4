/** A Markdown file with YAML front matter. */
export type MarkdownFile = { readonly front: string; readonly body: string };

/** The fields of front matter. */
export type FrontMatter = { readonly [field: string]: unknown };

/** Splits a Markdown file into front matter and body; undefined if it has no front matter. */
export const splitFrontMatter = (text: string): MarkdownFile | undefined => {
  const [, front, body = ""] = /^\uFEFF?---[ \t]*\r?\n(?:(.*?)\r?\n)?---[ \t]*(?:\r?\n(.*))?$/s.exec(text) ?? [];
  return /^\uFEFF?---/.test(text) && (front !== undefined || body !== "") ? { front: front ?? "", body } : undefined;
};

/**
 * Parses front matter. Simple fields, one per line, are read directly, since loading YAML costs more than reading a
 * hundred skills; a colon inside such a value is text, which many files rely on. Throws for invalid YAML.
 */
export const parseFrontMatter = async (front: string): Promise<FrontMatter> => {
  const simple = parseSimpleFields(front);
  if (simple !== undefined) return simple;
  const { parse } = await import("yaml");
  const read = (text: string): unknown => parse(text, { maxAliasCount: 10 });
  let fields: unknown;
  try {
    fields = read(front);
  } catch (error) {
    fields = tryParse(() => read(quoteValues(front))) ?? readTextFields(front, read);
    if (fields === undefined) throw error;
  }
  return typeof fields === "object" && fields !== null && !Array.isArray(fields) ? (fields as FrontMatter) : {};
};

const tryParse = <Value>(parse: () => Value): Value | undefined => {
  try {
    return parse();
  } catch {
    return undefined;
  }
};

/** The fields whose values agents of others write over several lines without quotes, and those that can follow them. */
const knownField =
  /^(name|description|model|color|version|license|effort|memory|background|isolation|metadata|skills|hooks|[\w-]*tools?|[\w-]*permissions?\w*|max\w*|argument-hint|user-invocable|disable-model-invocation):[ \t]*(.*)$/i;

/** Reads fields line by line: a line that begins no known field continues the value before it. Undefined if there is none. */
const readTextFields = (front: string, read: (text: string) => unknown): FrontMatter | undefined => {
  const fields: Record<string, string> = Object.create(null) as Record<string, string>;
  let last: string | undefined;
  for (const line of front.split(/\r?\n/)) {
    const [, name, value = ""] = knownField.exec(line) ?? [];
    if (name !== undefined && name in fields) return undefined;
    if (name !== undefined) fields[name] = value;
    else if (last !== undefined) fields[last] += `\n${line}`;
    else return undefined;
    last = name ?? last;
  }
  // Lists and maps that are no YAML either must not be read as less than they mean.
  if (last === undefined || Object.values(fields).some((value) => /^[[{](?!.*[\]}]\s*$)/.test(value))) return undefined;
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      tryParse(() => readValue(value.trim(), read)) ?? value.trim(),
    ]),
  );
};

/** A list or a quoted text on one line; other values are taken as they are. */
const readValue = (value: string, read: (text: string) => unknown): unknown =>
  /^(\[.*\]|".*"|'.*'|true|false|\d+)$/.test(value) ? read(value) : undefined;

/** Quotes the plain values of fields: other agents take a colon inside one as text. */
const quoteValues = (front: string): string =>
  front.replaceAll(
    /^([A-Za-z][\w-]*:[ \t]+)([^\s"'[{|>&*!%@`#].*?)[ \t]*\r?$/gm,
    (_, name: string, value: string) => name + JSON.stringify(value),
  );

/** The fields, if each is one line of plain or simply quoted text; undefined if YAML is needed. */
const parseSimpleFields = (front: string): FrontMatter | undefined => {
  const fields: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const line of front.split(/\r?\n/)) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const [, name, value] = /^([A-Za-z][\w-]*):(?:[ \t]+(.*?))?[ \t]*$/.exec(line) ?? [];
    const parsed = value === undefined ? undefined : parseScalar(value);
    if (name === undefined || name in fields || parsed === undefined) return undefined;
    fields[name] = parsed;
  }
  return fields;
};

const parseScalar = (value: string): string | boolean | undefined => {
  if (/^(true|false)$/.test(value)) return value === "true";
  const [, double, single] = /^(?:"([^"\\]*)"|'([^']*)')$/.exec(value) ?? [];
  if (double !== undefined || single !== undefined) return double ?? single;
  // Anything else that YAML could read as other than this text: numbers, null, lists, blocks, references, comments.
  return /^[A-Za-z]/.test(value) && !/^(null|yes|no|on|off)$/i.test(value) && !/ #/.test(value) ? value : undefined;
};

/** The field `arguments` of Claude Code: names for `$name`, as a list or a line. */
export const listArgumentNames = (value: unknown): { readonly argumentNames?: readonly string[] } => {
  const given = typeof value === "string" ? value.split(/[\s,]+/) : Array.isArray(value) ? value : [];
  const argumentNames = given.filter(
    (name): name is string => typeof name === "string" && /^[A-Za-z_][\w-]{0,63}$/.test(name) && name !== "ARGUMENTS",
  );
  return argumentNames.length === 0 ? {} : { argumentNames };
};
