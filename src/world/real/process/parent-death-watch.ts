import { spawn, type ChildProcess } from "node:child_process";
import { Socket } from "node:net";
import type { Writable } from "node:stream";

/**
 * Ends process groups when this process dies, however it dies. One small shell per process, started with the first group,
 * reads the groups to watch from a pipe; the system closes the pipe when we are gone, even when we were killed, and the
 * shell then ends the groups that are left: asked first, killed a second later. Windows has no groups to end.
 */
export type ParentDeathWatch = {
  /** Starts the shell if it does not run yet, so that `add` takes effect at once. */
  readonly prepare: () => void;
  /** Watches a group; answers how to stop. A group must be let go when its first process has ended: its number may be given again. */
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

/** A watcher that cannot be started, or ends, is started anew with the next command. */
const startWatcher = (gone: () => void): ChildProcess => {
  const watcher = spawn("/bin/sh", ["-c", script, "parley-watch"], {
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  watcher.on("error", gone);
  watcher.on("exit", gone);
  // Without a pipe where the system has no more file numbers (EMFILE), whatever the type says.
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
