import { join } from "node:path";
import type { World } from "../world/world.ts";
import { createChangedFileCheck } from "./command/changes/recheck.ts";
import { createCommandJudge } from "./command/resolve.ts";
import { createAutoApprovedCommands } from "./command/auto-approved.ts";
import { createCommitKeyScanner } from "./secrets/commit-keys.ts";
import { createChildEnvironment } from "./shell/environment.ts";
import { SandboxUnavailableError } from "./error.ts";
import { createPermissionGate, type PermissionGate } from "./gate/create.ts";
import { createGuardedWeb, type GuardedWeb, type GuardedWebOptions } from "./network/guarded-fetch.ts";
import { openMemory } from "./memory.ts";
import type { ApprovalMode } from "./gate/approval-mode.ts";
import { judgeUrl } from "./network/judge-url.ts";
import { checkProtection, type Protection } from "./workspace/protected-paths.ts";
import { createRedactor, type Redactor } from "./secrets/redact.ts";
import { findRipgrep } from "./search/find-ripgrep.ts";
import type { PermissionRuleSources } from "./gate/permission-rules.ts";
import { filterTrustedSearchPath, defaultSearchPath } from "./shell/search-path.ts";
import { openSearch, type SearchService } from "./search/open.ts";
import { listSecretPathsInHome } from "./secrets/paths.ts";
import { openShell, type ShellWorld } from "./shell/run.ts";
import { openTrustStore } from "./trust/folders.ts";
import { canonicalizePath } from "./workspace/scratch.ts";
import { openWorkspace, type Workspace } from "./workspace/open.ts";

/** What a session decides before anything is guarded. */
export type PolicyOptions = {
  readonly world: Pick<World, "clock" | "env" | "host" | "files" | "disk" | "processes">;
  /** The folders of the workspace as the person gave them. Relative paths begin at the first. */
  readonly roots: readonly string[];
  /** The agent's own folder: PARLEY_HOME, or .parley in the person's home. */
  readonly home: string;
  /** Where texts too long to be said are kept; `scratch` in the agent's own folder if not given. */
  readonly scratch?: string;
  /** The id of the session, which has a folder of its own there. */
  readonly session?: string;
  readonly mode: ApprovalMode;
  readonly rules?: PermissionRuleSources;
  /** Whether somebody is there to answer. */
  readonly interactive: boolean;
  /** Whether the person trusts the workspace; by default, whether each of its folders was trusted before. */
  readonly trusted?: boolean;
  /** Whether commands run in a sandbox: where there is one, or not at all without. Never, if not given. */
  readonly sandbox?: "wanted" | "required";
  /** Whether sandboxed commands reach the network; they do if not given. */
  readonly sandboxNetwork?: boolean;
  /** Variables that commands get whatever they hold, by the person's own choice. */
  readonly keepVariables?: readonly string[];
  /** Secrets besides those the environment holds. */
  readonly secrets?: readonly string[];
  /** Milliseconds a command may run; ten minutes if not given. */
  readonly commandTimeoutMs?: number;
  /** How the network is reached, where not by the system's own means. */
  readonly web?: Omit<GuardedWebOptions, "clock" | "redactor">;
  /** Finds ripgrep; the one that comes with Parley if not given. */
  readonly ripgrep?: () => Promise<string | undefined>;
};

/** The gate, and everything that stands behind it. */
export type SessionPolicy = {
  readonly gate: PermissionGate;
  readonly workspace: Workspace;
  readonly shell: ReturnType<typeof openShell>;
  readonly web: GuardedWeb;
  readonly search: SearchService;
  readonly memory: ReturnType<typeof openMemory>;
  /** Knows the secrets of this run: the same one everywhere. */
  readonly redactor: Redactor;
  readonly trusted: boolean;
  /** What the person should know of how commands run. */
  readonly notes: readonly string[];
  readonly close: () => Promise<void>;
};

/** Opens all that a session may do, behind one gate. Throws a `PolicyError` where a root is missing, or a sandbox is required and there is none. */
export const openPolicy = async (options: PolicyOptions): Promise<SessionPolicy> => {
  const {
    world,
    roots,
    home,
    mode,
    rules = {},
    interactive,
    commandTimeoutMs: longest = 600_000,
    keepVariables: keep = [],
    secrets = [],
  } = options;
  const { clock, disk, processes } = world;
  const env = createChildEnvironment(world.env, { keep });
  const redactor = createRedactor({ env: world.env, secrets });
  const trusted = options.trusted ?? (await areRootsTrusted(options));
  const scratch = options.scratch ?? join(home, "scratch");
  const guard = (path: string): Protection => checkProtection(path, { roots: workspace.roots, home });
  const { confine, notes } = await setUpSandbox(options, { scratch, protection: guard });
  const files = await openWorkspace({
    disk,
    roots,
    home,
    scratch,
    secrets: listSecretPathsInHome(world.host.home),
    ...(options.session === undefined ? {} : { session: options.session }),
  });
  const changes = createChangedFileCheck(files, disk.canonicalPath);
  const workspace = changes.trackFiles(files);
  const { platform } = world.host;
  const commands = {
    platform,
    disk,
    processes,
    files: workspace,
    agentHome: await canonicalizePath(disk, home),
    roots: workspace.roots,
    home: world.host.home,
    env,
    protection: guard,
  };
  const judgeCommand = createCommandJudge(commands);
  const unasked = createAutoApprovedCommands(disk, env, [...roots, ...workspace.roots]);
  const keys = createCommitKeyScanner({ disk, processes, clock, redactor, searchPath: unasked.searchPath });
  return {
    gate: createPermissionGate({
      mode,
      rules,
      trusted,
      interactive,
      protection: guard,
      judgeCommand: async (command, ruling) => {
        const judged = await changes.check(command, await judgeCommand(command, ruling), ruling);
        unasked.record(command.text, judged, ruling);
        const commit =
          ruling.isAllowListOnly === true || judged.decision === "deny" ? undefined : await keys.scan(judged.analysis);
        return commit === undefined ? judged : { ...judged, commitFinding: commit };
      },
      judgeUrl: (url) => judgeUrl(url, { redactor }),
      acceptCommand: async (command) => {
        keys.accept(command.text);
        await changes.accept(command);
      },
    }),
    workspace,
    shell: changes.trackShell(
      openShell({
        platform,
        processes,
        clock,
        env,
        autoApproved: unasked,
        files: workspace,
        timeoutMs: longest,
        ...(confine && { confine }),
      }),
    ),
    web: createGuardedWeb({ clock, redactor, ...options.web }),
    search: openSearch({ disk, processes, clock, ripgrep: options.ripgrep ?? findRipgrep, env, files: workspace }),
    memory: openMemory(disk, home),
    redactor,
    trusted,
    notes,
    close: workspace.close,
  };
};

const areRootsTrusted = async ({ world, home, roots }: PolicyOptions): Promise<boolean> => {
  const { isTrusted } = openTrustStore(world.disk, home);
  return (await Promise.all(roots.map(isTrusted))).every((each) => each);
};

type SandboxSetup = { readonly confine?: ShellWorld["confine"]; readonly notes: readonly string[] };

/** Puts every command into the sandbox, where there is one and it is wanted. Loaded only then. */
const setUpSandbox = async (
  { world, roots, home, sandbox, sandboxNetwork = true }: PolicyOptions,
  { scratch, protection: guard }: { readonly scratch: string; readonly protection: (path: string) => Protection },
): Promise<SandboxSetup> => {
  if (sandbox === undefined) return { notes: [] };
  const { findSandbox } = await import("./shell/sandbox/find.ts");
  const path = await filterTrustedSearchPath(world.disk, world.env["PATH"] ?? defaultSearchPath, roots);
  const found = await findSandbox(world.processes, world.host, path);
  if ("missing" in found) {
    if (sandbox === "wanted") return { notes: [found.missing] };
    throw new SandboxUnavailableError(`A sandbox is required. ${found.missing}`);
  }
  const { createConfiner } = await import("./shell/sandbox/confine.ts");
  const options = { world, roots, home, scratch, network: sandboxNetwork, protection: guard };
  return { notes: found.notes, confine: createConfiner(found, options) };
};
