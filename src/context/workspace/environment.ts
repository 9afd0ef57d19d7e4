import type { HostInfo } from "../../world/world.ts";
import { escapeName } from "../../tools/files/escape-name.ts";
import type { WorkspaceScan } from "./scan.ts";
import { formatTree } from "./tree.ts";

/** What is told about the place a session begins in. */
export type EnvironmentOptions = {
  readonly host: Pick<HostInfo, "platform" | "arch">;
  /** The time, in milliseconds since 1970. */
  readonly now: number;
  /** How far the clocks here are ahead of Greenwich; the machine's own zone if not given. */
  readonly minutesAhead?: number;
  readonly roots: readonly string[];
  /** What stands in the roots. One that is missing was not looked at, because it is not trusted. */
  readonly scans: readonly WorkspaceScan[];
  /** Names that are shown, in all roots together; 200 if not given. */
  readonly maxNames?: number;
};

/** The first thing a model is told in a session: the day, the machine, the folders and what is in them. It holds for that moment only, and says so. */
export const describeEnvironment = ({
  host,
  roots,
  scans: surveys,
  maxNames: most = 200,
  ...when
}: EnvironmentOptions): string =>
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
    ...roots.map((root) => describeStructure(root, surveys, Math.ceil(most / roots.length))),
  ].join("\n");

const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

const formatDay = ({ now, minutesAhead }: Pick<EnvironmentOptions, "now" | "minutesAhead">): string => {
  const ahead = minutesAhead ?? -new Date(now).getTimezoneOffset();
  const local = new Date(now + ahead * 60_000);
  return `${days[local.getUTCDay()] ?? ""}, ${local.toISOString().slice(0, 10)}`;
};

const describeStructure = (root: string, surveys: readonly WorkspaceScan[], most: number): string => {
  const found = surveys.find((each) => each.root === root);
  if (found === undefined) return `\n${escapeName(root)}: not shown, because the folder is not trusted.`;
  const tree = formatTree(found, { maxNames: most });
  return tree === ""
    ? `\n${escapeName(root)} is empty.`
    : `\nIn ${escapeName(root)}, without what ignore files name; "..." stands for more:\n${tree}`;
};
