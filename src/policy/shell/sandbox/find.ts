import type { Processes, Program } from "../../../world/processes.ts";
import type { HostInfo } from "../../../world/world.ts";

/** What a sandboxed command may touch. All else of the disk it may only read. Of two paths that lie in each other the inner counts. */
export type SandboxAccess = {
  /** Folders it may write in: the workspace, and a scratch folder. They must be there. */
  readonly writable: readonly string[];
  /** Files and folders it may read and not change, such as the hooks of a repository. They must be there. */
  readonly readOnly: readonly string[];
  /** Folders it sees empty, such as those with keys. They must be there. */
  readonly hiddenFolders: readonly string[];
  /** Files it sees empty; sockets among them cannot be connected to. They must be there. */
  readonly hiddenFiles: readonly string[];
  /** Folders of its own, empty when it starts and gone when it ends. They must be there. */
  readonly privateFolders: readonly string[];
  /** Files and folders inside private ones that it may read after all. */
  readonly sharedPaths: readonly string[];
  /** An empty file that stands in for the hidden ones. */
  readonly emptyFile: string;
  readonly network: boolean;
};

/** A way of this system to keep a program in bounds. */
export type Sandbox = {
  readonly name: "bubblewrap" | "sandbox-exec";
  /** What it cannot do on this system, for the person. */
  readonly notes: readonly string[];
  readonly confine: (program: Program, within: SandboxAccess) => Program;
};

/** The sandbox of this system, tried out; or why there is none. */
export const findSandbox = async (
  processes: Processes,
  { platform }: Pick<HostInfo, "platform">,
  searchPath: string,
): Promise<Sandbox | { readonly missing: string }> => {
  const kind = kinds[platform];
  if (kind === undefined) return { missing: `Commands run without a sandbox: there is none for ${platform}.` };
  const file = await processes.find(kind.program, kind.folders ?? searchPath);
  if (file === undefined)
    return { missing: `Commands run without a sandbox: ${kind.program} is not installed${kind.hint}.` };
  let problem: string | undefined;
  for (const { args, notes } of kind.levels) {
    const confine: Sandbox["confine"] = (program, within) => kind.confine(file, args, program, within);
    const failure = await probeSandbox(processes, confine);
    if (failure === undefined) return { name: kind.name, notes, confine };
    // The first failure is of the level that should work; a later one is often a mere consequence.
    problem ??= failure;
  }
  return { missing: `Commands run without a sandbox: ${kind.program} does not work here (${problem ?? "unknown"}).` };
};

/** How much of its work a sandbox can do; systems differ. */
type SandboxLevel = { readonly args: readonly string[]; readonly notes: readonly string[] };

type SandboxKind = {
  readonly name: Sandbox["name"];
  readonly program: string;
  /** Where the program is; the usual places if not given. */
  readonly folders?: string;
  readonly hint: string;
  /** The strictest first. */
  readonly levels: readonly SandboxLevel[];
  readonly confine: (file: string, args: readonly string[], program: Program, within: SandboxAccess) => Program;
};

/** A system may have the program and not let it work. */
const probeSandbox = async (processes: Processes, confine: Sandbox["confine"]): Promise<string | undefined> => {
  const nothing: Program = { file: "/bin/sh", args: ["-c", "exit 0"], cwd: "/", env: {} };
  const within: SandboxAccess = {
    writable: [],
    readOnly: [],
    hiddenFolders: [],
    hiddenFiles: [],
    privateFolders: [],
    sharedPaths: [],
    emptyFile: "/dev/null",
    network: false,
  };
  try {
    const running = await processes.start(confine(nothing, within));
    let complaint = "";
    for await (const { bytes } of running.output) complaint += Buffer.from(bytes).toString().slice(0, 1000);
    const { code, signal } = await running.exited;
    if (code === 0) return undefined;
    return complaint.trim().split("\n")[0] || `it ended with ${code ?? signal ?? "nothing"}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

type MountRule = { readonly path: string; readonly kind: "writable" | "readOnly" | "hiddenFolder" | "hiddenFile" };

/** Outer folders first: what is said later holds. */
const listMountRules = ({ writable, readOnly, hiddenFolders, hiddenFiles }: SandboxAccess): readonly MountRule[] =>
  [
    ...writable.map((path): MountRule => ({ path, kind: "writable" })),
    ...readOnly.map((path): MountRule => ({ path, kind: "readOnly" })),
    ...hiddenFolders.map((path): MountRule => ({ path, kind: "hiddenFolder" })),
    ...hiddenFiles.map((path): MountRule => ({ path, kind: "hiddenFile" })),
  ].toSorted((one, other) => one.path.length - other.path.length);

/**
 * A process tree of its own that ends with us, a disk that is read-only but for some folders, no devices but the plain
 * ones, and no capabilities: root of a sandbox could otherwise mount the disk writable again.
 */
const bubblewrap: SandboxKind["confine"] = (file, args, program, within) => ({
  ...program,
  env: { ...removeSocketVariables(program.env), TMPDIR: "/tmp", ...writableCaches },
  file,
  args: [
    ...wholeDisk,
    ...kernelPaths.flatMap((path) => ["--ro-bind-try", path, path]),
    ...within.privateFolders.flatMap((path) => ["--tmpfs", path]),
    ...within.sharedPaths.flatMap((path) => ["--ro-bind-try", path, path]),
    ...listMountRules(within).flatMap((rule) => mountArguments(rule, within.emptyFile)),
    // Only now: folders inside them had to be made.
    ...within.hiddenFolders.flatMap((path) => ["--remount-ro", path]),
    ...args,
    ...isolation,
    ...(within.network ? [] : ["--unshare-net"]),
    "--chdir",
    program.cwd,
    "--",
    program.file,
    ...program.args,
  ],
});

const wholeDisk = "--ro-bind / / --dev /dev --proc /proc".split(" ");

const isolation = "--cap-drop ALL --unshare-pid --unshare-ipc --unshare-uts --die-with-parent --new-session".split(" ");

/** Root may write these without any capability: `/proc/sys/kernel/core_pattern` names a program that the kernel runs. */
const kernelPaths = ["sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "mtrr"].map((name) => `/proc/${name}`);

const mountArguments = ({ path, kind }: MountRule, emptyFile: string): readonly string[] => {
  switch (kind) {
    case "writable":
      return ["--bind", path, path];
    case "readOnly":
      return ["--ro-bind", path, path];
    case "hiddenFolder":
      return ["--tmpfs", path];
    case "hiddenFile":
      return ["--ro-bind", emptyFile, path];
  }
};

/** Their folders are hidden, and programs complain of a socket that is not there. */
const removeSocketVariables = (env: Program["env"]): Program["env"] =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !socketVariables.has(name)));

const socketVariables: ReadonlySet<string> = new Set([
  "SSH_AUTH_SOCK",
  "DBUS_SESSION_BUS_ADDRESS",
  "XDG_RUNTIME_DIR",
  "WAYLAND_DISPLAY",
  "DOCKER_HOST",
  "CONTAINER_HOST",
]);

/** The home folder is read-only; without these, npm, pip and go fail to write their caches. */
const writableCaches = { XDG_CACHE_HOME: "/tmp/.cache", npm_config_cache: "/tmp/.npm" };

/** The same in the words of macOS. */
const seatbelt: SandboxKind["confine"] = (file, _args, program, within) => {
  const rules = listMountRules(within).map(({ path, kind }) => {
    const place = `(subpath ${JSON.stringify(path)})`;
    switch (kind) {
      case "writable":
        return `(allow file-read* file-write* ${place})`;
      case "readOnly":
        return `(deny file-write* ${place})`;
      case "hiddenFolder":
      case "hiddenFile":
        return `(deny file-read* file-write* network-outbound ${place})`;
    }
  });
  const profile = [
    "(version 1)",
    "(allow default)",
    "(deny file-write*)",
    '(allow file-write* (subpath "/dev") (subpath "/private/tmp") (subpath "/private/var/folders"))',
    ...rules,
    ...(within.network ? [] : ["(deny network*)"]),
  ].join("\n");
  return { ...program, file, args: ["-p", profile, program.file, ...program.args] };
};

const kinds: { readonly [platform: string]: SandboxKind } = {
  linux: {
    name: "bubblewrap",
    program: "bwrap",
    hint: " (the package is called bubblewrap)",
    levels: [
      { args: ["--unshare-user", "--disable-userns"], notes: [] },
      {
        args: ["--unshare-user"],
        notes: ["Sandboxed commands can create namespaces: this bubblewrap is older than 0.8, or may not forbid it."],
      },
      // An installation with the setuid bit, where users may not create namespaces: it drops its rights by itself.
      { args: [], notes: ["Sandboxed commands have no user namespace of their own: this system does not allow one."] },
    ],
    confine: bubblewrap,
  },
  darwin: {
    name: "sandbox-exec",
    program: "sandbox-exec",
    folders: "/usr/bin",
    hint: "",
    levels: [{ args: [], notes: [] }],
    confine: seatbelt,
  },
};
