import type { HostInfo } from "../../world/world.ts";
import { escapeName } from "../../tools/files/escape-name.ts";
import type { WorkspaceScan } from "./scan.ts";
import { formatTree } from "./tree.ts";

/** The facts of the environment description. */
export type EnvironmentOptions = {
  readonly host: Pick<HostInfo, "platform" | "arch">;
  /** The time, in milliseconds since 1970. */
  readonly now: number;
  /** The UTC offset in minutes; default: the machine's time zone. */
  readonly minutesAhead?: number;
  readonly roots: readonly string[];
  /** The scans of the roots. An untrusted root is not scanned. */
  readonly scans: readonly WorkspaceScan[];
  /** The maxNames names shown, for all roots together; default: 200. */
  readonly maxNames?: number;
};

/** Describes the environment at the start of a session: date, platform, workspace folders and the names in them. */
export const describeEnvironment = ({ host, roots, scans, maxNames = 200, ...when }: EnvironmentOptions): string =>
  [
    "This is where the session begins. It is not repeated when something changes.",
    `Date: ${formatDay(when)}`,
    `Platform: ${host.platform} ${host.arch}`,
    roots.length === 1
      ? `Workspace: ${escapeName(roots[0] ?? "")}`
      : [
          "Workspace, the first folder being where relative paths begin:",
          ...roots.map((root) => `- ${escapeName(root)}`),
        ].join("\n"),
    ...roots.map((root) => describeStructure(root, scans, Math.ceil(maxNames / roots.length))),
  ].join("\n");

const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

const formatDay = ({ now, minutesAhead }: Pick<EnvironmentOptions, "now" | "minutesAhead">): string => {
  const ahead = minutesAhead ?? -new Date(now).getTimezoneOffset();
  const local = new Date(now + ahead * 60_000);
  return `${days[local.getUTCDay()] ?? ""}, ${local.toISOString().slice(0, 10)}`;
};

const describeStructure = (root: string, scans: readonly WorkspaceScan[], maxNames: number): string => {
  const found = scans.find((each) => each.root === root);
  if (found === undefined) return `\n${escapeName(root)}: not shown, because the folder is not trusted.`;
  const tree = formatTree(found, { maxNames });
  return tree === ""
    ? `\n${escapeName(root)} is empty.`
    : `\nIn ${escapeName(root)}, without what ignore files name; "..." stands for more:\n${tree}`;
};
