import { isInside, quotePath } from "../../workspace/paths.ts";
import type { Processes, Program } from "../../../world/processes.ts";
import type { QuarantinedPath } from "./guard.ts";
import type { HiddenPaths } from "./hidden-paths.ts";

type SandboxedFailure = {
  readonly program: Program;
  readonly code: number | undefined;
  readonly output: string;
  readonly network: boolean;
  readonly places: HiddenPaths;
  readonly readOnly: readonly string[];
  readonly find: Processes["find"];
};

/** Explains which protected paths a command created and how they were renamed. */
export const explainQuarantine = (quarantined: readonly QuarantinedPath[]): readonly string[] =>
  quarantined.map(
    ({ path, newPath, reason }) =>
      `(Sandbox: the command created ${quotePath(path)}. ${reason} It was renamed to ${quotePath(newPath)}. Create it with an edit tool instead, which asks the user.)`,
  );

/** Explains how the sandbox caused a command to fail, as far as its output shows. */
export const explainSandboxFailure = async (failure: SandboxedFailure): Promise<readonly string[]> => {
  const { code, output, network, places: hiddenPaths, readOnly } = failure;
  if (code === 0) return [];
  const hidden = [...hiddenPaths.hiddenFolders, ...hiddenPaths.hiddenFiles];
  const mentioned = (paths: readonly string[]): readonly string[] => paths.filter((path) => output.includes(path));
  const hiddenMentions = mentioned(hidden);
  const readOnlyMentions = mentioned(readOnly);
  return [
    ...(code === 126 || code === 127 ? await explainMissingProgram(failure, hidden) : []),
    ...hiddenMentions.map(
      (path) => `(Sandbox: ${quotePath(path)} is hidden from commands, because it can contain secrets.)`,
    ),
    ...readOnlyMentions.map(
      (path) => `(Sandbox: ${quotePath(path)} is read-only for commands, because programs run its contents.)`,
    ),
    ...(/read-only file system|EROFS/i.test(output) && readOnlyMentions.length === 0
      ? [
          "(Sandbox: commands can write only in the workspace and in /tmp, and not to files that are run automatically, such as .git/hooks or .envrc.)",
        ]
      : []),
    ...(!network && noNetworkError.test(output)
      ? ["(Sandbox: commands have no network. The user can allow it with --sandbox-network on.)"]
      : []),
    ...(/permission denied \(publickey|could not read (username|password)|no such identity/i.test(output)
      ? ["(Sandbox: keys and sign-ins, such as ~/.ssh and ~/.git-credentials, are hidden from commands.)"]
      : []),
  ];
};

const noNetworkError =
  /could not resolve|temporary failure in name resolution|network is unreachable|ENOTFOUND|EAI_AGAIN|ENETUNREACH|getaddrinfo|name or service not known/i;

/** Explains that a program is installed, but in a folder that the sandbox hides. */
const explainMissingProgram = async (
  { program, output, places: hiddenPaths, find }: SandboxedFailure,
  hidden: readonly string[],
): Promise<readonly string[]> => {
  const names = [
    ...output.matchAll(/(?:^|[\s:'"])([^\s:'"]+): (?:command not found|not found|No such file or directory)/g),
  ];
  const hiddenFolders = [...hidden, ...hiddenPaths.privateFolders];
  const found = await Promise.all(
    [...new Set(names.map((match) => match[1] ?? ""))].map(async (name) => {
      const file = name.startsWith("/") ? name : await find(name, program.env["PATH"] ?? "");
      const folder = file === undefined ? undefined : hiddenFolders.find((each) => isInside(file, each));
      return folder === undefined
        ? []
        : [
            `(Sandbox: ${quotePath(name)} is installed in ${quotePath(folder)}, which is hidden from commands. Install it elsewhere, such as in the workspace, or run without the sandbox.)`,
          ];
    }),
  );
  return found.flat();
};
