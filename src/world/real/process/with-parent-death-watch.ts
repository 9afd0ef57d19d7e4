import type { Program } from "../../processes.ts";

/**
 * The command that runs a program as a companion: a small shell stands beside it and waits for the far end of pipe 3,
 * which we hold and never write to. It is closed when the program has ended, and by the system when we are gone, even
 * when we were killed; the shell then ends what is left of the group: asked first, killed a second later.
 */
export const withParentDeathWatch = ({ file, args }: Program): Pick<Program, "file" | "args"> =>
  process.platform === "win32" ? { file, args } : { file: "/bin/sh", args: ["-c", script, "parley", file, ...args] };

/** Programs started with `&` would read from nothing, so the input is handed on under another number. The shell itself stays until the program has ended, whatever it is told. */
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
