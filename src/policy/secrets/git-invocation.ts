/** A git command that puts something into a commit, or will with the next one, and where its contents are found. */
export type GitInvocation = {
  /** The folder that `-C` names, or `.`. */
  readonly folder: string;
  /** Whether it takes what is staged, changed in tracked files, in files git does not know, and in ignored ones. */
  readonly staged: boolean;
  readonly changed: boolean;
  readonly untracked: boolean;
  readonly ignored: boolean;
  /** What is changed or untracked counts only here; everywhere where there are none. */
  readonly paths: readonly string[];
};

/** Reads the words of a git command; undefined where it adds and commits nothing. */
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

/** Options and operands, where these options take the word after them. */
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
