import type { FileSearch, Shell, Web } from "../tools/capabilities.ts";
import { join } from "node:path";
import { findXdgFolders, listHomeFolders, toHomeFolders, type HomeOption } from "../world/home-folders.ts";
import type { World } from "../world/world.ts";
import { createChangedFiles, trackWrites } from "./command/changes/changed-files.ts";
import { loadCommands } from "./command/load.ts";
import type { Commands, WatchCommand } from "./command/open-commands.ts";
import { createChildEnvironment } from "./shell/environment.ts";
import { SandboxUnavailableError } from "./error.ts";
import { createPermissionGate, type PermissionGate } from "./gate/create.ts";
import { createGuardedWeb, type GuardedWebOptions } from "./network/guarded-fetch.ts";
import { openMemory } from "./memory.ts";
import type { ApprovalMode } from "./gate/approval-mode.ts";
import { judgeUrl } from "./network/judge-url.ts";
import { checkProtection, type Protection } from "./workspace/protected-paths.ts";
import { createRedactor, type Redactor } from "./secrets/redact.ts";
import { findRipgrep } from "./search/find-ripgrep.ts";
import { mergePermissionRules, type PermissionRuleSources } from "./gate/permission-rules.ts";
import { filterTrustedSearchPath, defaultSearchPath } from "./shell/search-path.ts";
import { openSearch } from "./search/open.ts";
import { listSecretPathsInHome } from "./secrets/paths.ts";
import type { SessionRules } from "./gate/session-rules.ts";
import type { ShellWorld } from "./shell/run.ts";
import { openTrustStore } from "./trust/folders.ts";
import { openRuleStore } from "./trust/stored-rules.ts";
import { canonicalizePath } from "./workspace/scratch.ts";
import type { EditorBuffers } from "./workspace/editor-buffers.ts";
import { openWorkspace, type Workspace } from "./workspace/open.ts";

/** The options of a session's policy. */
export type PolicyOptions = {
  readonly world: Pick<World, "clock" | "env" | "host" | "files" | "disk" | "processes">;
  /** The workspace folders as the user gave them. Relative paths start at the first. */
  readonly roots: readonly string[];
  /** The agent's own folders. */
  readonly home: HomeOption;
  /** The folder for outputs too long for the model. Default: `scratch` beside the sessions. */
  readonly scratch?: string;
  /** Folders outside the workspace that tools and sandboxed commands may read: those of skills and plugins. */
  readonly readable?: readonly string[];
  /** The id of the session, which has its own folder there. */
  readonly session?: string;
  readonly mode: ApprovalMode;
  readonly rules?: PermissionRuleSources;
  /** The rules of a resumed session, and the recorder of changes to them. */
  readonly sessionRules?: SessionRules;
  /** Whether the user can be asked. */
  readonly interactive: boolean;
  /** Whether the user trusts the workspace. Default: whether each of its folders is trusted. */
  readonly trusted?: boolean;
  /** "wanted": commands run in a sandbox if there is one. "required": opening fails without one. Default: no sandbox. */
  readonly sandbox?: "wanted" | "required";
  /** Folders besides the agent's own that sandboxed commands do not see. */
  readonly hiddenFolders?: readonly string[];
  /** Whether sandboxed commands have network access. Default: true. */
  readonly sandboxNetwork?: boolean;
  /** Variables passed to commands even if they hold secrets, by the user's choice. */
  readonly keepVariables?: readonly string[];
  /** The open files of an editor. */
  readonly buffers?: EditorBuffers;
  /** Secrets besides those in the environment. */
  readonly secrets?: readonly string[];
  /** The time limit of a command. Default: ten minutes. */
  readonly commandTimeoutMs?: number;
  /** Overrides of lookup and connections, for tests and proxies. */
  readonly web?: Omit<GuardedWebOptions, "clock" | "redactor">;
  /** Runs each command that may change files. */
  readonly watchCommand?: WatchCommand;
  /** Finds ripgrep. Default: the bundled one. */
  readonly ripgrep?: () => Promise<string | undefined>;
};

/** The permission gate and the services behind it. */
export type SessionPolicy = {
  readonly gate: PermissionGate;
  readonly workspace: Workspace;
  readonly shell: Pick<Shell, "run">;
  readonly web: Web;
  readonly search: FileSearch;
  readonly memory: ReturnType<typeof openMemory>;
  /** The redactor for the secrets of this run, shared by all users. */
  readonly redactor: Redactor;
  readonly trusted: boolean;
  /** Wraps a program in the sandbox; absent without one. */
  readonly confine?: ShellWorld["confine"];
  /** Notes for the user about how commands run, e.g. that there is no sandbox. */
  readonly notes: readonly string[];
  /** Does ahead what the first command would wait for. */
  readonly prepareCommands: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** Opens the policy of a session: the gate and its services. Throws a `PolicyError` if a root is missing, or a sandbox is required and there is none. */
export const openPolicy = async (options: PolicyOptions): Promise<SessionPolicy> => {
  const {
    world,
    roots,
    home,
    mode,
    rules = {},
    interactive,
    commandTimeoutMs = 600_000,
    keepVariables = [],
    secrets = [],
  } = options;
  const { clock, disk, processes } = world;
  const redactor = createRedactor({ env: world.env, secrets });
  const trusted = options.trusted ?? (await areRootsTrusted(options));
  const { config, data } = toHomeFolders(home);
  const scratch = options.scratch ?? join(data, "scratch");
  const ownFolders = await Promise.all(listHomeFolders(home).map((path) => canonicalizePath(disk, path)));
  const protectionOf = (path: string): Protection =>
    checkProtection(path, { roots: workspace.roots, ownFolders: [...listHomeFolders(home), ...ownFolders] });
  const { confine, notes } = await setUpSandbox(options, { scratch, protection: protectionOf });
  const files = await openWorkspace({
    disk,
    roots,
    home,
    scratch,
    secrets: [...listSecretPathsInHome(world.host.home), ...listHomeFolders(findXdgFolders(world))],
    ...(options.readable === undefined ? {} : { readable: options.readable }),
    ...(options.session === undefined ? {} : { session: options.session }),
    hidden: await listHiddenFiles(options, trusted),
    ...(options.buffers === undefined ? {} : { buffers: options.buffers }),
  });
  const changed = createChangedFiles(files);
  const workspace = trackWrites(changed, files);
  let variables: ReturnType<typeof createChildEnvironment> | undefined;
  const env = (): NonNullable<typeof variables> =>
    (variables ??= createChildEnvironment(world.env, { keep: keepVariables }));
  let opened: Promise<Commands> | undefined;
  const commands = (): Promise<Commands> => {
    opened ??= loadCommands().then(({ openCommands }) =>
      openCommands({
        world,
        roots,
        files: workspace,
        changed,
        redactor,
        ownFolders,
        protection: protectionOf,
        env: env(),
        timeoutMs: commandTimeoutMs,
        confine,
        watchCommand: options.watchCommand,
      }),
    );
    return opened;
  };
  return {
    gate: createPermissionGate({
      mode,
      rules,
      trusted,
      interactive,
      sessionRules: options.sessionRules,
      stored: openRuleStore(disk, config, workspace.roots[0] ?? config),
      home: world.host.home,
      protection: protectionOf,
      judgeCommand: async (command, commandRules) => (await commands()).judge(command, commandRules),
      judgeUrl: (url) => judgeUrl(url, { redactor }),
      acceptCommand: async (command) => (await commands()).accept(command),
    }),
    workspace,
    shell: { run: async (command) => (await commands()).run(command) },
    web: createGuardedWeb({ clock, redactor, ...options.web }),
    search: openSearch({
      disk,
      processes,
      clock,
      ripgrep: options.ripgrep ?? findRipgrep,
      env,
      files: workspace,
    }),
    memory: openMemory(disk, config),
    redactor,
    trusted,
    ...(confine && { confine }),
    notes,
    prepareCommands: async () => (await commands()).prepare(),
    close: workspace.close,
  };
};

/** The patterns of rules that deny reading, as ignore patterns: lists and searches find none of these files. */
const listHiddenFiles = async (
  { rules = {}, roots, home, world: { disk } }: PolicyOptions,
  trusted: boolean,
): Promise<readonly string[]> => {
  const { config } = toHomeFolders(home);
  const stored = await openRuleStore(disk, config, roots[0] ?? config).list();
  return [
    ...mergePermissionRules(rules, trusted).deny,
    ...stored.flatMap(({ list, rule }) => (list === "deny" ? [rule] : [])),
  ].flatMap((rule) => {
    if (rule.type === "path") return [`/${rule.path}`];
    return rule.type === "files" && rule.access === "read" && !/^(?:~\/|\/\/)/.test(rule.pattern)
      ? [rule.pattern.replace(/^\.\//, "/")]
      : [];
  });
};

const areRootsTrusted = async ({ world, home, roots }: PolicyOptions): Promise<boolean> => {
  const { isTrusted } = openTrustStore(world.disk, toHomeFolders(home).config);
  return (await Promise.all(roots.map(isTrusted))).every((each) => each);
};

type SandboxSetup = { readonly confine?: ShellWorld["confine"]; readonly notes: readonly string[] };

/** Sets up the sandbox, if it is wanted and available. Its code is loaded only then. */
const setUpSandbox = async (
  { world, roots, readable = [], home, sandbox, sandboxNetwork = true, hiddenFolders = [] }: PolicyOptions,
  {
    scratch,
    protection: protectionOf,
  }: { readonly scratch: string; readonly protection: (path: string) => Protection },
): Promise<SandboxSetup> => {
  if (sandbox === undefined) return { notes: [] };
  const { findSandbox } = await import("./shell/sandbox/find.ts");
  const path = await filterTrustedSearchPath(world.disk, world.env["PATH"] ?? defaultSearchPath, roots);
  const availableSandbox = await findSandbox(world.processes, world.host, path);
  if ("missing" in availableSandbox) {
    if (sandbox === "wanted") return { notes: [availableSandbox.missing] };
    throw new SandboxUnavailableError(`A sandbox is required. ${availableSandbox.missing}`);
  }
  const { createConfiner } = await import("./shell/sandbox/confine.ts");
  const options = {
    world,
    roots,
    readable,
    home: toHomeFolders(home),
    scratch,
    network: sandboxNetwork,
    hiddenFolders,
    protection: protectionOf,
  };
  return { notes: availableSandbox.notes, confine: createConfiner(availableSandbox, options) };
};
