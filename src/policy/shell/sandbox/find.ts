import type { Processes, Program } from "../../../world/processes.ts";
import type { HostInfo } from "../../../world/world.ts";

/** The paths a sandboxed command may access. The rest of the disk is read-only. Of two nested paths the inner one counts. */
export type SandboxAccess = {
  /** Folders it may write in: the workspace and a scratch folder. They must exist. */
  readonly writable: readonly string[];
  /** Files and folders it may read but not change, such as a repository's hooks. They must exist. */
  readonly readOnly: readonly string[];
  /** Folders that appear empty, such as those with keys. They must exist. */
  readonly hiddenFolders: readonly string[];
  /** Files that appear empty; sockets among them cannot be connected to. They must exist. */
  readonly hiddenFiles: readonly string[];
  /** Private folders (tmpfs), empty when it starts and deleted when it ends. They must exist. */
  readonly privateFolders: readonly string[];
  /** Files and folders inside private ones that it may still read. */
  readonly sharedPaths: readonly string[];
  /** An empty file that replaces the hidden ones. */
  readonly emptyFile: string;
  readonly network: boolean;
};

/** A sandbox of this operating system. */
export type Sandbox = {
  readonly name: "bubblewrap" | "sandbox-exec";
  /** Its limitations on this system, for the user. */
  readonly notes: readonly string[];
  readonly confine: (program: Program, access: SandboxAccess) => Program;
};

/** Finds the sandbox of this system and tests it; or returns why there is none. */
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
    const confine: Sandbox["confine"] = (program, access) => kind.confine(file, args, program, access);
    const failure = await probeSandbox(processes, confine);
    if (failure === undefined) return { name: kind.name, notes, confine };
    // Report the failure of the strictest level; later ones are often a consequence.
    problem ??= failure;
  }
  return { missing: `Commands run without a sandbox: ${kind.program} does not work here (${problem ?? "unknown"}).` };
};

/** How strict a sandbox can be; systems differ. */
type SandboxLevel = { readonly args: readonly string[]; readonly notes: readonly string[] };

type SandboxKind = {
  readonly name: Sandbox["name"];
  readonly program: string;
  /** The folders to find the program in. Default: the search path. */
  readonly folders?: string;
  readonly hint: string;
  /** The strictest first. */
  readonly levels: readonly SandboxLevel[];
  readonly confine: (file: string, args: readonly string[], program: Program, access: SandboxAccess) => Program;
};

/** Runs a trivial program in the sandbox: a system may have the sandbox but not permit it. Returns why it failed. */
const probeSandbox = async (processes: Processes, confine: Sandbox["confine"]): Promise<string | undefined> => {
  const trivialProgram: Program = { file: "/bin/sh", args: ["-c", "exit 0"], cwd: "/", env: {} };
  const access: SandboxAccess = {
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
    const running = await processes.start(confine(trivialProgram, access));
    let errorOutput = "";
    for await (const { bytes } of running.output) errorOutput += Buffer.from(bytes).toString().slice(0, 1000);
    const { code, signal } = await running.exited;
    if (code === 0) return undefined;
    return errorOutput.trim().split("\n")[0] || `it ended with ${code ?? signal ?? "nothing"}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

type MountRule = { readonly path: string; readonly kind: "writable" | "readOnly" | "hiddenFolder" | "hiddenFile" };

/** Lists the rules, outer folders first: later rules override earlier ones. */
const listMountRules = ({ writable, readOnly, hiddenFolders, hiddenFiles }: SandboxAccess): readonly MountRule[] =>
  [
    ...writable.map((path): MountRule => ({ path, kind: "writable" })),
    ...readOnly.map((path): MountRule => ({ path, kind: "readOnly" })),
    ...hiddenFolders.map((path): MountRule => ({ path, kind: "hiddenFolder" })),
    ...hiddenFiles.map((path): MountRule => ({ path, kind: "hiddenFile" })),
  ].toSorted((one, other) => one.path.length - other.path.length);

/**
 * bubblewrap: a separate process tree that ends with us, a read-only disk except for some folders, only basic
 * devices, and no capabilities: root in a sandbox could otherwise remount the disk writable.
 */
const bubblewrap: SandboxKind["confine"] = (file, args, program, access) => ({
  ...program,
  env: { ...removeSocketVariables(program.env), TMPDIR: "/tmp", ...writableCaches },
  file,
  args: [
    ...wholeDisk,
    ...kernelPaths.flatMap((path) => ["--ro-bind-try", path, path]),
    ...access.privateFolders.flatMap((path) => ["--tmpfs", path]),
    ...access.sharedPaths.flatMap((path) => ["--ro-bind-try", path, path]),
    ...listMountRules(access).flatMap((rule) => mountArguments(rule, access.emptyFile)),
    // Only now: mounts above had to create folders inside them.
    ...access.hiddenFolders.flatMap((path) => ["--remount-ro", path]),
    ...args,
    ...isolation,
    ...(access.network ? [] : ["--unshare-net"]),
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

/** Removes variables that name sockets: their folders are hidden, and programs fail on a missing socket. */
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

/** sandbox-exec: the same as a macOS sandbox profile. */
const seatbelt: SandboxKind["confine"] = (file, _args, program, access) => {
  const rules = listMountRules(access).map(({ path, kind }) => {
    const place = `(subpath ${JSON.stringify(path)})`;
    switch (kind) {
      case "writable":
        return `(allow file-read* file-write* ${place})`;
      case "readOnly":
        return `(allow file-read* ${place}) (deny file-write* ${place})`;
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
    ...(access.network ? [] : ["(deny network*)"]),
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
