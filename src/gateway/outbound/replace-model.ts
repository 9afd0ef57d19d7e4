/** Replaces the value of the top-level field `model` in a JSON text; every other character stays. Undefined if it has none. */
export const replaceModel = (json: string, model: string): string | undefined => {
  const found = findModelValue(json);
  return found === undefined ? undefined : json.slice(0, found.start) + JSON.stringify(model) + json.slice(found.end);
};

/** Finds the last top-level `model`, as JSON parsers do. */
const findModelValue = (json: string): { readonly start: number; readonly end: number } | undefined => {
  let found: { readonly start: number; readonly end: number } | undefined;
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    switch (json.charAt(at)) {
      case "{":
      case "[":
        depth += 1;
        break;
      case "}":
      case "]":
        depth -= 1;
        break;
      case '"': {
        const end = stringEnd(json, at);
        if (depth === 1 && json.slice(at, end) === '"model"') {
          const value = valueAfterColon(json, end);
          if (value !== undefined) found = { start: value, end: stringEnd(json, value) };
        }
        at = end - 1;
      }
    }
  }
  return found;
};

/** The index after the closing quote of the string that begins at `start`. */
const stringEnd = (json: string, start: number): number => {
  for (let at = json.indexOf('"', start + 1); at !== -1; at = json.indexOf('"', at + 1)) {
    let before = at - 1;
    while (json.charCodeAt(before) === backslash) before -= 1;
    if ((at - before) % 2 === 1) return at + 1;
  }
  return json.length;
};

const backslash = 0x5c;

const valueAfterColon = (json: string, from: number): number | undefined => {
  const between = /^\s*:\s*/.exec(json.slice(from, from + 64));
  const start = from + (between?.[0].length ?? 0);
  return between !== null && json[start] === '"' ? start : undefined;
};
