import type { CommandSpec } from "../command.ts";
import { databaseOptions } from "../store/command.ts";

/** The spec of `parley worker`. */
export const workerCommand: CommandSpec = {
  name: "worker",
  about: "Run sessions of a database: take ready ones, drive their turns, give them back",
  usage: "[--store URL] [--most N] [options]",
  positionals: [],
  details: [
    "Takes sessions that have something to do, fairly between tenants, and runs their turns here.",
    "Approvals wait in the database without a process. If this worker ends, another one continues its",
    "sessions; calls that may have had effects are not repeated. SIGTERM lets turns end (--grace) and",
    "gives sessions back. Commands of models run in a sandbox (bubblewrap), which ends with the worker.",
    "Without one it does not start, unless --no-sandbox says that the machine itself is the sandbox,",
    "e.g. a container for each worker.",
    "With --workplace each session has a folder of its own below --workplaces, which commands of other",
    "sessions do not see: empty, a git worktree of its project, or a clone.",
    "Front doors on this machine read text as it arrives from a port on loopback; --listen names an",
    "address for those on others. It is plain HTTP: use it in a private network.",
  ],
  options: [
    ...databaseOptions,
    { name: "blobs", value: "FOLDER", about: "Folder of blobs over 1 MiB, shared by all machines" },
    { name: "most", value: "N", about: "Most sessions at once (default: 16)" },
    { name: "lease", value: "SECONDS", about: "Time without a sign of life until others take over (default: 15)" },
    { name: "park-after", value: "SECONDS", about: "Time a question keeps its turn in this process (default: 30)" },
    { name: "grace", value: "SECONDS", about: "Time turns have to end after SIGTERM (default: 60)" },
    {
      name: "workplace",
      value: "KIND",
      values: ["shared", "folder", "worktree", "clone"],
      about: "Where tools run: the project (default), or a folder, worktree or clone for each session",
    },
    { name: "workplaces", value: "FOLDER", about: "Holds the folders of sessions, outside of projects" },
    { name: "listen", value: "HOST:PORT", about: "Where front doors read live text (default: 127.0.0.1, a free port)" },
    { name: "no-sandbox", about: "Start without a sandbox for commands of models" },
    {
      name: "approval-mode",
      value: "MODE",
      values: ["default", "auto_edit", "yolo", "plan"],
      about: "What runs without asking",
    },
    { name: "quiet", short: "q", about: "Do not report sessions on stderr" },
  ],
  example: "parley worker --store postgres://parley@db/parley --most 64",
  exitCodes: ["0  stopped after SIGTERM", "1  the database or the sandbox is not usable", "2  wrong usage"],
  load: async () => (await import("./run.ts")).worker,
};
