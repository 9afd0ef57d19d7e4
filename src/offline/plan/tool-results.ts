/** A name in a folder listing, with its size if it is a file. */
export type ListedName = { readonly name: string; readonly kind: "folder" | "link" | "file"; readonly bytes?: number };

/** Parses the result of list_directory. */
export const parseListing = (listing: string): readonly ListedName[] =>
  listing.split("\n").flatMap((line): readonly ListedName[] => {
    const [, mark, marked] = /^\[(DIR|LINK)\] (.+)$/.exec(line) ?? [];
    if (marked !== undefined) return [{ name: marked, kind: mark === "DIR" ? "folder" : "link" }];
    const [, name, bytes] = /^(.+) \((\d+) bytes\)$/.exec(line) ?? [];
    return name === undefined ? [] : [{ name, kind: "file", bytes: Number(bytes) }];
  });

/** Parses the result of read_file: the text, and the note if it was truncated. */
export const parseFileText = (result: string): { readonly text: string; readonly part?: string } => {
  const head =
    /^IMPORTANT: The file content has been truncated\.\nStatus: (.*)\n\n--- FILE CONTENT \(truncated\) ---\n\n/.exec(
      result,
    );
  if (head !== null) return { text: result.slice(head[0].length), part: head[1] ?? "" };
  return { text: /^\(.* is empty\.\)$/.test(result) ? "" : result };
};

/** Parses the result of glob: paths, relative to the searched folder. */
export const parsePaths = (result: string): { readonly paths: readonly string[]; readonly folder: string } => {
  const lines = result.split("\n");
  const [, folder = ""] = / within (.+?)(?: \(only .*\))?, sorted by /.exec(lines[0] ?? "") ?? [];
  const paths = lines.slice(1).filter((line) => /^(?:\/|[A-Za-z]:|")/.test(line));
  return { paths: paths.map((path) => (path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path)), folder };
};

/** A line found by a search. */
export type FoundLine = { readonly file: string; readonly line: number; readonly text: string };

/** Parses the result of search_file_content. */
export const parseFoundLines = (result: string): readonly FoundLine[] => {
  const matches: FoundLine[] = [];
  let file = "";
  for (const line of result.split("\n")) {
    const [, name] = /^File: (.+)$/.exec(line) ?? [];
    if (name !== undefined) file = name;
    const [, number, text] = /^L(\d+): (.*)$/.exec(line) ?? [];
    if (number !== undefined && file !== "") matches.push({ file, line: Number(number), text: text ?? "" });
  }
  return matches;
};

/** The result of run_shell_command. */
export type CommandResult = {
  readonly output: string;
  readonly error: string;
  readonly code: string;
  readonly signal: string;
  readonly background: string;
};

/**
 * Parses the result of a command; undefined if it has another format. The output may contain anything, so the other
 * fields are matched from the end.
 */
export const parseCommandResult = (result: string): CommandResult | undefined => {
  const found =
    /^Command: [\s\S]*?\nDirectory: .*\nOutput: ([\s\S]*)\nError: (.*)\nExit Code: (.*)\nSignal: (.*)\nBackground PIDs: (.*)\nProcess Group PGID: .*\s*$/.exec(
      result,
    );
  if (found === null) return undefined;
  const [, output = "", error = "", code = "", signal = "", background = ""] = found.map((field) =>
    field === "(none)" || field === "(empty)" ? "" : field,
  );
  return { output, error, code, signal, background };
};
