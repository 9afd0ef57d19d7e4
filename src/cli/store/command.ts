import type { CommandOption, CommandSpec } from "../command.ts";

/** Options of commands that use sessions in PostgreSQL. */
export const databaseOptions: readonly CommandOption[] = [
  { name: "store", value: "URL", about: "Database, as postgres://USER@HOST/NAME (default: PARLEY_STORE)" },
];

/** The spec of `parley store`. */
export const storeCommand: CommandSpec = {
  name: "store",
  about: "Set up and check sessions in PostgreSQL, and move them to and from files",
  usage: "ACTION [ID] [options]",
  positionals: ["[ACTION]", "[ID]"],
  choices: ["migrate", "check", "import", "export", "archive", "tenant", "limit"],
  details: [
    "  migrate        Create the tables, or update those of an older version",
    "  check          Verify every record, counter and blob; print what is wrong",
    "  import [ID]    Copy one of your session files, or all, into the database",
    "  export [ID]    Write one session, or all, as session files below --output",
    "  archive        Export sessions not used for a time, verify the files, and delete the rows",
    "  tenant [ID]    Show the limits of a tenant and its spending, or set them",
    "  limit [NAME]   Show the request rates of providers, or set one (--per-minute) for all workers",
    "                 keep it for each key",
    "The database is named by PARLEY_STORE, by a file named by PARLEY_STORE_FILE, or by --store.",
    "The package pg must be installed.",
  ],
  options: [
    ...databaseOptions,
    { name: "tenant", value: "NAME", about: "Tenant whose sessions are meant (default: local)" },
    { name: "output", short: "o", value: "FOLDER", about: "export, archive: folder for the files" },
    { name: "older-than", value: "DAYS", about: "archive: sessions not used for this many days" },
    { name: "blobs", value: "FOLDER", about: "Folder of blobs over 1 MiB, shared by all machines" },
    { name: "most-running", value: "N", about: "tenant: most sessions that run at the same time (default: 100)" },
    { name: "spend", value: "USD", about: "tenant: most it may spend in all; its sessions wait beyond it" },
    { name: "per-minute", value: "N", about: "limit: most requests a minute to the provider; 0 for no limit" },
    { name: "burst", value: "N", about: "limit: most requests at once (default: those of ten seconds)" },
    { name: "json", about: "Print one JSON object" },
  ],
  example: "parley store migrate --store postgres://parley@127.0.0.1/parley",
  exitCodes: ["0  done", "1  the database or a session is not in order", "2  wrong usage"],
  load: async () => (await import("./run.ts")).store,
};
