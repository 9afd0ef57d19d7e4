import type { Host } from "../world/world.ts";
import { nameLine } from "../tools/names.ts";
import type { Survey } from "./survey.ts";
import { treeText } from "./tree.ts";

/** What is told about the place a session begins in. */
export type EnvironmentOptions = {
  readonly host: Pick<Host, "platform" | "arch">;
  /** The time, in milliseconds since 1970. */
  readonly now: number;
  /** How far the clocks here are ahead of Greenwich; the machine's own zone if not given. */
  readonly minutesAhead?: number;
  readonly roots: readonly string[];
  /** What stands in the roots. One that is missing was not looked at, because it is not trusted. */
  readonly surveys: readonly Survey[];
  /** Names that are shown, in all roots together; 200 if not given. */
  readonly most?: number;
};

/** The first thing a model is told in a session: the day, the machine, the folders and what is in them. It holds for that moment only, and says so. */
export const environmentText = ({ host, roots, surveys, most = 200, ...when }: EnvironmentOptions): string =>
  [
    "This is where the session begins. It is not repeated when something changes.",
    `Date: ${dayOf(when)}`,
    `Platform: ${host.platform} ${host.arch}`,
    roots.length === 1
      ? `Workspace: ${nameLine(roots[0] ?? "")}`
      : [
          "Workspace, the first folder being where relative paths begin:",
          ...roots.map((root) => `- ${nameLine(root)}`),
        ].join("\n"),
    ...roots.map((root) => structureOf(root, surveys, Math.ceil(most / roots.length))),
  ].join("\n");

const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

const dayOf = ({ now, minutesAhead }: Pick<EnvironmentOptions, "now" | "minutesAhead">): string => {
  const ahead = minutesAhead ?? -new Date(now).getTimezoneOffset();
  const local = new Date(now + ahead * 60_000);
  return `${days[local.getUTCDay()] ?? ""}, ${local.toISOString().slice(0, 10)}`;
};

const structureOf = (root: string, surveys: readonly Survey[], most: number): string => {
  const found = surveys.find((each) => each.root === root);
  if (found === undefined) return `\n${nameLine(root)}: not shown, because the folder is not trusted.`;
  const tree = treeText(found, { most });
  return tree === ""
    ? `\n${nameLine(root)} is empty.`
    : `\nIn ${nameLine(root)}, without what ignore files name; "..." stands for more:\n${tree}`;
};
