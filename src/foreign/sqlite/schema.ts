/** The columns of a table in the order they are stored, and the one that is the row id. */
export type TableColumns = { readonly columns: readonly string[]; readonly rowId: string | undefined };

/** Reads the column names from the statement that created a table. */
export const columnNames = (sql: string): TableColumns => {
  const definitions = splitDefinitions(sql.slice(sql.indexOf("(") + 1, sql.lastIndexOf(")")));
  const columns = definitions.filter((text) => !/^(?:constraint|primary|unique|check|foreign)\b/i.test(text));
  return {
    columns: columns.map(nameOf),
    rowId: columns.filter((text) => /^\S+\s+integer\s+(?:not\s+null\s+)?primary\s+key/i.test(text)).map(nameOf)[0],
  };
};

/** Splits at the commas outside of brackets and quotes. */
const splitDefinitions = (text: string): readonly string[] => {
  const parts: string[] = [];
  let [depth, start, quote] = [0, 0, ""];
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    if (quote !== "") quote = char === quote ? "" : quote;
    else if (`"'\``.includes(char)) quote = char;
    else if (char === "(") depth += 1;
    else if (char === ")") depth -= 1;
    else if (char === "," && depth === 0) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...parts, text.slice(start)].map((part) => part.trim()).filter((part) => part !== "");
};

const nameOf = (definition: string): string =>
  /^(?:"([^"]*)"|`([^`]*)`|\[([^\]]*)\]|(\S+))/
    .exec(definition)
    ?.slice(1)
    .find((name) => name !== undefined) ?? "";
