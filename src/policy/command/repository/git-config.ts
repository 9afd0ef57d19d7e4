/**
 * Returns why a git configuration could make git run a program; undefined if every setting is known to be
 * harmless. Unknown settings and unusual lines are a risk. A nested repository may name its working tree, `tree`.
 */
export const findConfigRisk = (text: string, tree?: string): string | undefined => {
  let section = "";
  for (const line of text.split("\n").map((each) => each.trim())) {
    if (line === "" || /^[#;]/.test(line)) continue;
    const header = /^\[([a-z\d-]+)(?:\.[^\]"\s]+|\s+"(?:[^"\\]|\\.)*")?\]$/i.exec(line)?.[1];
    const key = /^([a-z][a-z\d-]*)\s*(?:=.*)?$/i.exec(line)?.[1];
    if (header !== undefined) section = header.toLowerCase();
    else if (key === undefined || line.endsWith("\\"))
      return `unknown line in the git configuration: ${JSON.stringify(line.slice(0, 80))}`;
    else if (section === "core" && key === "worktree" && tree !== undefined && line === `worktree = ${tree}`) continue;
    else if (!harmlessSettings.has(`${section}.${key.toLowerCase()}`))
      return `the git configuration sets ${section}.${key}`;
  }
  return undefined;
};

const harmlessSettings: ReadonlySet<string> = new Set(
  Object.entries({
    core: "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol safecrlf abbrev quotepath compression sharedrepository untrackedcache preloadindex longpaths protecthfs protectntfs",
    remote: "url fetch pushurl tagopt prune mirror",
    branch: "remote merge rebase pushremote description vscode-merge-base gh-merge-base github-pr-owner-number",
    user: "name email signingkey useconfigonly",
    submodule: "url active",
    extensions: "objectformat worktreeconfig refstorage",
    lfs: "repositoryformatversion access",
    init: "defaultbranch",
    pull: "rebase ff",
    push: "default autosetupremote followtags",
    fetch: "prune prunetags parallel",
    merge: "ff conflictstyle renames",
    rebase: "autostash autosquash updaterefs",
    rerere: "enabled autoupdate",
    commit: "gpgsign verbose",
    tag: "gpgsign sort",
    color: "ui diff status branch",
    diff: "renames algorithm context noprefix mnemonicprefix colormoved wserrorhighlight indentheuristic",
    status: "short branch showuntrackedfiles relativepaths",
    log: "date decorate follow abbrevcommit",
    gc: "auto autodetach reflogexpire reflogexpireunreachable",
    maintenance: "auto strategy",
    feature: "manyfiles experimental",
    index: "version threads",
  }).flatMap(([section, keys]) => keys.split(" ").map((key) => `${section}.${key}`)),
);
