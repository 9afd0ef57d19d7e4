import { spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { bin, root } from "../built.ts";

/** The user that runs the program: the user of the tests, or an unprivileged one if the tests run as root. */
export type SandboxUser = { readonly name: string; readonly uid?: number };

const isRoot = process.getuid?.() === 0;

/** The user of the tests, and the unprivileged one if that is root. */
export const users: readonly SandboxUser[] = isRoot
  ? [{ name: "root" }, { name: "nobody", uid: 65_534 }]
  : [{ name: "a user" }];

/** Whether bubblewrap is installed. CI installs it; elsewhere the tests that need it are reported as skipped. */
export const hasBubblewrap: boolean = existsSync("/usr/bin/bwrap") || existsSync("/usr/local/bin/bwrap");

/** The result of a command, as the model reads it. */
type SandboxedResult = { readonly code: string; readonly output: string };

export type SandboxRunOptions = {
  readonly args?: readonly string[];
  readonly path?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The folder of the settings, in the user's home. Default: `.parley`. */
  readonly settingsFolder?: string;
};

export type SandboxFixture = {
  readonly workspace: string;
  readonly home: string;
  /** Writes a file below the fixture's folder, owned by the user. */
  readonly put: (path: string, text: string, mode?: number) => string;
  /** Runs scripts one after the other, in one session of the packaged program. The gate would deny many of them as direct commands. */
  readonly run: (commands: readonly string[], options?: SandboxRunOptions) => Promise<readonly SandboxedResult[]>;
  readonly close: () => void;
};

const parent = isRoot ? "/var/cache" : join(root, ".cache");

/** Copies the packaged program so that every user can read it. The caller removes it. */
export const copyProgram = (): string => {
  mkdirSync(parent, { recursive: true });
  const app = realpathSync(mkdtempSync(join(parent, "parley-program-")));
  cpSync(dirname(bin), app, { recursive: true, filter: (path) => !path.startsWith(join(dirname(bin), "lib")) });
  chmodSync(app, 0o755);
  return app;
};

/** Creates a workspace and a home outside /tmp, which a sandbox would hide. */
export const openSandboxFixture = (user: SandboxUser, app: string): SandboxFixture => {
  const base = realpathSync(mkdtempSync(join(parent, "parley-sandbox-")));
  const own = (path: string): void => {
    if (user.uid !== undefined) chownSync(path, user.uid, user.uid);
  };
  const folder = (path: string): string => {
    if (!existsSync(path)) {
      folder(dirname(path));
      mkdirSync(path, { mode: 0o755 });
      own(path);
    }
    return path;
  };
  chmodSync(base, 0o755);
  own(base);
  const workspace = folder(join(base, "work"));
  const home = folder(join(base, "home"));
  const put = (path: string, content: string, mode = 0o644): string => {
    const full = join(base, path);
    folder(dirname(full));
    writeFileSync(full, content, { mode });
    own(full);
    return full;
  };
  return {
    workspace,
    home,
    put,
    run: async (commands, options = {}) => {
      const { args = ["--sandbox"], path = "/usr/local/bin:/usr/bin:/bin", settingsFolder = ".parley" } = options;
      const script = put(
        "script.json",
        JSON.stringify({
          replies: [
            ...commands.map((command, index) => {
              put(`work/.steps/${index}.sh`, command);
              return { call: { tool: "run_shell_command", input: { command: `bash .steps/${index}.sh` } } };
            }),
            { say: "Done." },
          ],
        }),
      );
      put(`home/${settingsFolder}/settings.json`, JSON.stringify({ model: "offline", offline: { script } }));
      const program = spawn(
        process.execPath,
        [join(app, "parley.cjs"), "-p", "go", "--approval-mode", "yolo", "-o", "stream-json", ...args],
        {
          cwd: workspace,
          stdio: ["ignore", "pipe", "pipe"],
          env: { PATH: path, HOME: home, NODE_DISABLE_COMPILE_CACHE: "1", ...options.env },
          ...(user.uid === undefined ? {} : { uid: user.uid, gid: user.uid }),
        },
      );
      const [code, out, err] = await Promise.all([once(program, "exit"), text(program.stdout), text(program.stderr)]);
      if (code[0] !== 0) throw new Error(`The program ended with ${String(code[0])}: ${err}`);
      return out.split("\n").flatMap(readResults);
    },
    close: () => rmSync(base, { recursive: true, force: true }),
  };
};

const readResults = (line: string): readonly SandboxedResult[] => {
  if (!line.includes('"tool_result"')) return [];
  const result = findOutput(JSON.parse(line)) ?? "";
  const [, output = "", code = ""] = /^Output: ([^]*)\nError: [^]*\nExit Code: (\S+)/m.exec(result) ?? [];
  return [{ code, output }];
};

/** Finds the text that has the form of a command's result, anywhere in the line. */
const findOutput = (value: unknown): string | undefined => {
  if (typeof value === "string") return value.startsWith("Command: ") ? value : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  for (const inner of Object.values(value)) {
    const found = findOutput(inner);
    if (found !== undefined) return found;
  }
  return undefined;
};
