import { spawn, type ChildProcess } from "node:child_process";
import { Socket } from "node:net";
import type { Writable } from "node:stream";

/**
 * Ends process groups when this process dies, however it dies. One small shell, started with the first group, reads the
 * groups to watch from a pipe; the system closes the pipe when we die, even by SIGKILL, and the shell then sends
 * SIGTERM to the groups that are left, and SIGKILL a second later. Windows has no process groups.
 */
export type ParentDeathWatch = {
  /** Starts the shell if it is not running, so that `add` takes effect at once. */
  readonly prepare: () => void;
  /**
   * Watches a group and returns a function that stops watching. Call it when the group's first process has exited: its
   * id may be reused.
   */
  readonly add: (group: number) => () => void;
};

export const createParentDeathWatch = (): ParentDeathWatch => {
  const groups = new Set<number>();
  let watcher: ChildProcess | undefined;
  const prepare = (): void => {
    if (watcher !== undefined || process.platform === "win32") return;
    watcher = startWatcher(() => (watcher = undefined));
    for (const group of groups) sendToWatcher(watcher, `+ ${group}`);
  };
  return {
    prepare,
    add: (group) => {
      prepare();
      groups.add(group);
      sendToWatcher(watcher, `+ ${group}`);
      return () => {
        if (groups.delete(group)) sendToWatcher(watcher, `- ${group}`);
      };
    },
  };
};

const sendToWatcher = (watcher: ChildProcess | undefined, line: string): void =>
  void watcher?.stdin?.write(`${line}\n`);

/** Starts the watcher. One that cannot be started, or exits, is started again with the next command. */
const startWatcher = (onGone: () => void): ChildProcess => {
  const watcher = spawn("/bin/sh", ["-c", script, "parley-watch"], {
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  watcher.on("error", onGone);
  watcher.on("exit", onGone);
  // Despite the type there is no pipe when the process is out of file descriptors (EMFILE).
  const pipe = watcher.stdin as Writable | undefined;
  pipe?.on("error", () => undefined);
  watcher.unref();
  if (pipe instanceof Socket) pipe.unref();
  return watcher;
};

const script = `trap "" TERM INT HUP QUIT
groups=" "
while read -r sign group; do
  case $sign in
    +) groups="$groups$group " ;;
    -) case $groups in *" $group "*) groups="\${groups%%" $group "*} \${groups#*" $group "}" ;; esac ;;
  esac
done
[ "$groups" = " " ] && exit 0
for group in $groups; do kill -TERM "-$group"; done
sleep 1
for group in $groups; do kill -KILL "-$group"; done`;
