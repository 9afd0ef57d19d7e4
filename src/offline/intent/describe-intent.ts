import type { LineRange, Intent } from "./intent.ts";

/** Describes an intent as an action: "read a.txt". */
export const describeIntent = (intent: Intent): string => {
  switch (intent.type) {
    case "list":
      return intent.path === "." ? "list the folder" : `list ${intent.path}`;
    case "read":
      return `${intent.as === "image" ? "look at" : "read"} ${intent.lines === undefined ? "" : `${describeRange(intent.lines)} of `}${intent.path}`;
    case "read-many":
      return `read ${intent.patterns.join(", ")}`;
    case "find":
      return `find ${intent.pattern}${inFolder(intent.path)}`;
    case "search":
      return `search for ${intent.pattern}${inFolder(intent.path ?? intent.include)}`;
    case "size":
      return `see how large ${intent.path} is`;
    case "run":
      return `run \`${intent.command}\``;
    case "write":
      return `write ${intent.path}`;
    case "append":
      return `add to ${intent.path}`;
    case "edit":
      return `change ${intent.path}`;
    case "fetch":
      return `fetch ${/https?:\/\/\S+/i.exec(intent.prompt)?.[0] ?? "a page"}`;
    case "web":
      return `search the web for ${intent.query}`;
    case "remember":
      return "remember something";
    case "use":
      return `use the tool ${intent.tool}`;
    case "survey":
      return "see what this project is";
    case "explain":
      return "explain what failed";
    case "unknown":
      return `do "${intent.text}"`;
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
