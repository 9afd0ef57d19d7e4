/** A git command that stages or commits content, and where that content comes from. */
export type GitInvocation = {
  /** The folder that `-C` names, or `.`. */
  readonly folder: string;
  /** Whether it takes staged content, changes in tracked files, untracked files, and ignored files. */
  readonly staged: boolean;
  readonly changed: boolean;
  readonly untracked: boolean;
  readonly ignored: boolean;
  /** Limits changed and untracked files to these paths; empty means no limit. */
  readonly paths: readonly string[];
};

/** Parses the words of a git command; undefined if it neither stages nor commits. */
export const parseGitInvocation = (words: readonly string[]): GitInvocation | undefined => {
  let folder = ".";
  let at = 1;
  for (; (words[at] ?? "").startsWith("-"); at++) {
    if (words[at] === "-C") folder = `${folder}/${words[at + 1] ?? "."}`;
    if (/^(?:-C|-c|--git-dir|--work-tree|--namespace|--config-env|--exec-path|--super-prefix)$/.test(words[at] ?? ""))
      at++;
  }
  const rest = words.slice(at + 1);
  if (words[at] === "commit") return { folder, ...parseCommit(rest) };
  return words[at] === "add" || words[at] === "stage" ? { folder, ...parseAdd(rest) } : undefined;
};

const parseCommit = (rest: readonly string[]): Omit<GitInvocation, "folder"> => {
  const { options, operands } = splitArguments(
    rest,
    /^(?:-\w*[mFCct]|--(?:message|file|author|date|template|reuse-message|reedit-message|fixup|squash|trailer|cleanup))$/,
  );
  const takesAll = options.some((option) =>
    /^(?:--all|--interactive|--patch|--pathspec-from-file.*|-[a-ln-z]*[ap]\w*)$/.test(option),
  );
  return {
    staged: true,
    changed: takesAll || operands.length > 0,
    untracked: false,
    ignored: false,
    paths: takesAll ? [] : operands,
  };
};

const parseAdd = (rest: readonly string[]): Omit<GitInvocation, "folder"> => {
  const { options, operands } = splitArguments(rest, /^--(?:chmod|pathspec-from-file)$/);
  const isUpdate = options.some((option) => /^(?:--update|-\w*u\w*)$/.test(option));
  return {
    staged: false,
    changed: true,
    untracked: !isUpdate,
    ignored: options.some((option) => /^(?:--force|-\w*f\w*)$/.test(option)),
    paths: operands,
  };
};

/** Splits options from operands. Options that match `takesValue` consume the next word. */
const splitArguments = (
  rest: readonly string[],
  takesValue: RegExp,
): { readonly options: readonly string[]; readonly operands: readonly string[] } => {
  const end = rest.indexOf("--");
  const before = end < 0 ? rest : rest.slice(0, end);
  const options: string[] = [];
  const operands: string[] = [];
  for (let at = 0; at < before.length; at++) {
    const word = before[at] ?? "";
    if (!word.startsWith("-")) operands.push(word);
    else {
      options.push(word);
      if (takesValue.test(word)) at++;
    }
  }
  return { options, operands: [...operands, ...(end < 0 ? [] : rest.slice(end + 1))] };
};
