import type { Program } from "../../processes.ts";

/**
 * The command that runs a program so that its whole process group ends when this process dies. A small shell waits on
 * pipe 3, whose other end we hold open and never write to. We close it when the program has exited; the system closes
 * it when we die, even by SIGKILL. The shell then sends SIGTERM to the rest of the group, and SIGKILL a second later.
 */
export const withParentDeathWatch = ({ file, args }: Program): Pick<Program, "file" | "args"> =>
  process.platform === "win32" ? { file, args } : { file: "/bin/sh", args: ["-c", script, "parley", file, ...args] };

/**
 * A program started with `&` gets no input, so stdin is passed on as descriptor 4. The shell ignores signals until the
 * program has exited.
 */
const script = `trap : TERM INT HUP
exec 4<&0 </dev/null
(trap "" TERM INT HUP; read -r nothing <&3; kill -TERM 0; sleep 1; kill -KILL 0) 4<&- >/dev/null 2>&1 &
"$@" <&4 4<&- 3<&- &
child=$!
exec 4<&- 3<&-
wait $child
code=$?
while kill -0 $child 2>/dev/null; do wait $child; code=$?; done
exit $code`;
