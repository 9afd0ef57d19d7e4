import { readOnlyGitVariables } from "../../policy/command/repository/safe-git.ts";
import { createChildEnvironment } from "../../policy/shell/environment.ts";
import { defaultSearchPath } from "../../policy/shell/search-path.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import type { World } from "../../world/world.ts";
import type { RepositoryLocation } from "./git-url.ts";
import { checkTree, PluginSourceError, sortByPath, treeLimits, type PluginTree, type TreeFile } from "./tree.ts";

/** The files of a commit. */
export type FetchedCommit = { readonly tree: PluginTree; readonly commit: string };

type GitWorld = Pick<World, "clock" | "env" | "processes">;

const fetchTimeoutMs = 120_000;

/**
 * Fetches one commit of a repository into an empty folder and reads its files out of git's database. Nothing is checked
 * out, so no hook, filter, attribute, submodule or link of the repository has an effect, and no program but git and ssh
 * runs. git's own settings are not read, and it asks for nothing.
 */
export const fetchCommit = async (
  world: GitWorld,
  { url, ref = "HEAD" }: RepositoryLocation,
  folder: string,
): Promise<FetchedCommit> => {
  const git = await openGit(world, folder, url);
  await git(["init", "--quiet", "--bare", "--template="]);
  await git(["fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--", url, ref]);
  const commit = (await git(["rev-parse", "--verify", "--quiet", "FETCH_HEAD^{commit}"])).toString("latin1").trim();
  const { files, problems } = parseListing(
    (await git(["ls-tree", "-r", "-z", "-l", "--full-tree", commit])).toString("utf8"),
  );
  checkTree(files);
  const contents = splitBatch(await git(["cat-file", "--batch"], files.map(({ id }) => `${id}\n`).join("")));
  const byPath = new Map(files.map(({ path }, at) => [path, contents[at]]));
  return {
    commit,
    tree: {
      files: sortByPath(files.map(({ path, size, isExecutable }) => ({ path, size, isExecutable }))),
      problems,
      read: async (path) => {
        const bytes = byPath.get(path);
        if (bytes === undefined) throw new PluginSourceError(`${path} could not be read.`);
        return bytes;
      },
    },
  };
};

/** Runs git with arguments and input; resolves with its output. Throws a `PluginSourceError` if it fails. */
type RunGit = (args: readonly string[], input?: string) => Promise<Buffer>;

const openGit = async ({ clock, env, processes }: GitWorld, folder: string, url: string): Promise<RunGit> => {
  const file = await processes.find("git", env["PATH"] ?? defaultSearchPath);
  if (file === undefined)
    throw new PluginSourceError("git is not installed. Install it, or add the plugin from a folder.");
  const program = { file, cwd: folder, env: gitEnvironment(env, folder, url), diesWithParent: true } as const;
  return async (args, input = "") => {
    const running = await processes.start({ ...program, args: [...safeOptions, ...args], input });
    let isLate = false;
    const maxOutput = treeLimits.bytes + 5_000_000;
    const stopTimer = clock.after(fetchTimeoutMs, () => {
      isLate = true;
      running.signal("SIGKILL");
    });
    try {
      const output: Buffer[] = [];
      const errors: Buffer[] = [];
      let size = 0;
      for await (const { from, bytes } of running.output) {
        size += bytes.length;
        (from === "output" ? output : errors).push(Buffer.from(bytes));
        if (size > maxOutput) running.signal("SIGKILL");
      }
      const { code } = await running.exited;
      if (code === 0) return Buffer.concat(output);
      if (size > maxOutput) throw new PluginSourceError(`${url} has more files than a plugin may have.`);
      throw new PluginSourceError(
        `${url} could not be fetched: ${isLate ? `no end after ${fetchTimeoutMs / 1000} s` : firstError(errors)}.`,
      );
    } finally {
      stopTimer();
    }
  };
};

const firstError = (chunks: readonly Buffer[]): string => {
  const lines = Buffer.concat(chunks).toString("utf8").trim().split("\n");
  const line = lines.find((each) => /^(error|fatal): /.test(each)) ?? lines[0] ?? "";
  return sanitizeForTerminal(line, "line").slice(0, 300).replace(/\.$/, "");
};

/** Options before git's command: objects are checked, nothing is started in the background. */
const safeOptions = [
  "transfer.fsckObjects=true",
  "http.followRedirects=initial",
  "gc.auto=0",
  "maintenance.auto=false",
].flatMap((setting) => ["-c", setting]);

/** No settings and programs but those named here, only these transports, no questions. */
const gitEnvironment = (env: World["env"], folder: string, url: string): { readonly [name: string]: string } => ({
  ...createChildEnvironment(env),
  ...readOnlyGitVariables,
  GIT_DIR: folder,
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_TERMINAL_PROMPT: "0",
  GIT_ASKPASS: "false",
  SSH_ASKPASS: "false",
  GIT_SSH_COMMAND: "ssh -oBatchMode=yes -oForwardAgent=no -oPermitLocalCommand=no",
  GIT_ALLOW_PROTOCOL: url.startsWith("http://") ? "http" : "https:ssh",
  LC_ALL: "C",
});

type ListedFile = TreeFile & { readonly id: string };

/** Parses `git ls-tree -z -l`: mode, type, id, size, a tab, the path. */
const parseListing = (
  text: string,
): { readonly files: readonly ListedFile[]; readonly problems: readonly string[] } => {
  const files: ListedFile[] = [];
  const problems: string[] = [];
  for (const line of text.split("\0")) {
    const [, mode, id = "", size, path = ""] = /^(\d+) \w+ ([0-9a-f]+) +(-|\d+)\t(.*)$/s.exec(line) ?? [];
    if (mode === "100644" || mode === "100755")
      files.push({ path, id, size: Number(size), isExecutable: mode === "100755" });
    else if (mode !== undefined)
      problems.push(`${path} is left out: it is ${mode === "120000" ? "a link" : "a submodule"}.`);
  }
  return { files, problems };
};

/** Splits the output of `git cat-file --batch`: a line with id, type and size, then the bytes and a newline. */
const splitBatch = (output: Buffer): readonly Uint8Array[] => {
  const contents: Uint8Array[] = [];
  for (let at = 0; at < output.length;) {
    const end = output.indexOf("\n", at);
    const size = Number(/^[0-9a-f]+ blob (\d+)$/.exec(output.toString("latin1", at, end))?.[1]);
    if (!Number.isSafeInteger(size)) throw new PluginSourceError("git returned an incomplete object.");
    contents.push(output.subarray(end + 1, end + 1 + size));
    at = end + 1 + size + 1;
  }
  return contents;
};
