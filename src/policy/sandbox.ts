import type { Host, Processes, Program } from "../world/index.ts";

/** What a sandboxed command may touch. All else of the disk it may only read. Of two that lie in each other the inner counts. */
export type Confinement = {
  /** Folders it may write in: the workspace, and a scratch folder. They must be there. */
  readonly writable: readonly string[];
  /** Folders it may not even read, such as those with our own keys. They must be there. */
  readonly hidden: readonly string[];
  readonly network: boolean;
};

/** A way of this system to keep a program in bounds. */
export type Sandbox = {
  readonly name: "bubblewrap" | "sandbox-exec";
  readonly confine: (program: Program, within: Confinement) => Program;
};

/** The sandbox of this system, tried out; or why there is none. */
export const findSandbox = async (
  processes: Processes,
  { platform }: Pick<Host, "platform">,
  searchPath: string,
): Promise<Sandbox | { readonly missing: string }> => {
  const kind = kinds[platform];
  if (kind === undefined) return { missing: `Commands run without a sandbox: there is none for ${platform}.` };
  const file = await processes.find(kind.program, kind.folders ?? searchPath);
  if (file === undefined)
    return { missing: `Commands run without a sandbox: ${kind.program} is not installed${kind.hint}.` };
  const sandbox: Sandbox = { name: kind.name, confine: (program, within) => kind.confine(file, program, within) };
  const problem = await tried(processes, sandbox);
  return problem === undefined
    ? sandbox
    : { missing: `Commands run without a sandbox: ${kind.program} does not work here (${problem}).` };
};

type Kind = {
  readonly name: Sandbox["name"];
  readonly program: string;
  /** Where the program is; the usual places if not given. */
  readonly folders?: string;
  readonly hint: string;
  readonly confine: (file: string, program: Program, within: Confinement) => Program;
};

/** A system may have the program and not let it work. */
const tried = async (processes: Processes, { confine }: Sandbox): Promise<string | undefined> => {
  const nothing: Program = { file: "/bin/sh", args: ["-c", "exit 0"], folder: "/", env: {} };
  try {
    const running = await processes.start(confine(nothing, { writable: [], hidden: [], network: false }));
    let complaint = "";
    for await (const { bytes } of running.output) complaint += Buffer.from(bytes).toString().slice(0, 1000);
    const { code, signal } = await running.ended;
    if (code === 0) return undefined;
    return complaint.trim().split("\n")[0] || `it ended with ${code ?? signal ?? "nothing"}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

type Rule = { readonly path: string; readonly kind: "writable" | "hidden" };

/** Outer folders first: what is said later holds. */
const rulesOf = ({ writable, hidden }: Confinement): readonly Rule[] =>
  [
    ...writable.map((path): Rule => ({ path, kind: "writable" })),
    ...hidden.map((path): Rule => ({ path, kind: "hidden" })),
  ].toSorted((one, other) => one.path.length - other.path.length);

/** A process tree of its own that ends with us, a disk that is read-only but for some folders, and no devices but the plain ones. */
const bubblewrap: Kind["confine"] = (file, program, within) => ({
  ...program,
  file,
  args: [
    "--ro-bind",
    "/",
    "/",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    "--tmpfs",
    "/tmp",
    ...rulesOf(within).flatMap(({ path, kind }) => (kind === "hidden" ? ["--tmpfs", path] : ["--bind", path, path])),
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--die-with-parent",
    "--new-session",
    ...(within.network ? [] : ["--unshare-net"]),
    "--chdir",
    program.folder,
    "--",
    program.file,
    ...program.args,
  ],
});

/** The same in the words of macOS. */
const seatbelt: Kind["confine"] = (file, program, within) => {
  const rules = rulesOf(within).map(({ path, kind }) => {
    const place = `(subpath ${JSON.stringify(path)})`;
    return kind === "hidden" ? `(deny file-read* file-write* ${place})` : `(allow file-read* file-write* ${place})`;
  });
  const profile = [
    "(version 1)",
    "(allow default)",
    "(deny file-write*)",
    '(allow file-write* (subpath "/dev"))',
    ...rules,
    ...(within.network ? [] : ["(deny network*)"]),
  ].join("\n");
  return { ...program, file, args: ["-p", profile, program.file, ...program.args] };
};

const kinds: { readonly [platform: string]: Kind } = {
  linux: { name: "bubblewrap", program: "bwrap", hint: " (the package is called bubblewrap)", confine: bubblewrap },
  darwin: { name: "sandbox-exec", program: "sandbox-exec", folders: "/usr/bin", hint: "", confine: seatbelt },
};
