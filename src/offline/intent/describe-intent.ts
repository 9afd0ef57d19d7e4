import type { LineRange, Intent } from "./intent.ts";

/** Describes an intent as an action: "read a.txt". */
export const describeIntent = (wish: Intent): string => {
  switch (wish.type) {
    case "list":
      return wish.path === "." ? "list the folder" : `list ${wish.path}`;
    case "read":
      return `${wish.as === "look" ? "look at" : "read"} ${wish.lines === undefined ? "" : `${describeRange(wish.lines)} of `}${wish.path}`;
    case "read-many":
      return `read ${wish.patterns.join(", ")}`;
    case "find":
      return `find ${wish.pattern}${inFolder(wish.path)}`;
    case "search":
      return `search for ${wish.pattern}${inFolder(wish.path ?? wish.include)}`;
    case "size":
      return `see how large ${wish.path} is`;
    case "run":
      return `run \`${wish.command}\``;
    case "write":
      return `write ${wish.path}`;
    case "append":
      return `add to ${wish.path}`;
    case "edit":
      return `change ${wish.path}`;
    case "fetch":
      return `fetch ${/https?:\/\/\S+/i.exec(wish.prompt)?.[0] ?? "a page"}`;
    case "web":
      return `search the web for ${wish.query}`;
    case "remember":
      return "remember something";
    case "use":
      return `use the tool ${wish.tool}`;
    case "survey":
      return "see what this project is";
    case "explain":
      return "explain what failed";
    case "unknown":
      return `do "${wish.text}"`;
    case "greet":
    case "thank":
    case "identity":
    case "abilities":
    case "continue":
    case "again":
    case "attached":
      return "answer";
  }
};

/** Describes a line range: "the last 10 lines". */
export const describeRange = ({ from, count }: LineRange): string => {
  if (from < 0) return `the last ${-from === 1 ? "line" : `${-from} lines`}`;
  if (count === undefined) return `the lines from ${from + 1}`;
  if (count === 1) return `line ${from + 1}`;
  return from === 0 ? `the first ${count} lines` : `lines ${from + 1} to ${from + count}`;
};

const inFolder = (place: string | undefined): string => (place === undefined ? "" : ` in ${place}`);
