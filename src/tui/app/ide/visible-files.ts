import { relative } from "node:path";
import type { AgentSession } from "../../../agent/open-agent.ts";
import { text as textPart } from "../../../conversation/builders.ts";
import type { UserPart } from "../../../conversation/parts.ts";
import { maxSelectionLength, type IdeMention } from "../../../ide/ide.ts";
import { fence, lineRange } from "../../../ide/prompt-context.ts";
import { sanitizeForTerminal } from "../../../policy/terminal/sanitize.ts";
import type { Workspace } from "../../../policy/workspace/open.ts";
import type { Disk } from "../../../world/disk.ts";

/** The name under which models know a file; undefined outside the workspace, for ignored files and for missing ones. */
export const visiblePath = async (
  requested: string,
  { services }: Pick<AgentSession, "services">,
  disk: Pick<Disk, "canonicalPath">,
): Promise<string | undefined> => {
  try {
    const { workspace } = await services();
    // Editors may name a file of the project through links outside of it.
    const path = (await disk.canonicalPath(requested)) ?? requested;
    const resolved = await workspace.resolve(path);
    if (resolved.kind !== "file") return undefined;
    if ((await workspace.ignored(path, { git: false, own: true })) !== undefined) return undefined;
    if (await isIgnoredAsNamed(workspace, requested)) return undefined;
    const name = relative(workspace.roots[0] ?? "/", resolved.path);
    return sanitizeForTerminal(name.startsWith("..") ? resolved.path : name, "line");
  } catch {
    return undefined;
  }
};

/** Whether a link inside the project has a name that is ignored. One outside has no name there. */
const isIgnoredAsNamed = async (workspace: Workspace, path: string): Promise<boolean> =>
  (await workspace.ignored(path, { git: false, own: true }).catch(() => undefined)) !== undefined;

/** The longest file whose lines are read for a mention. */
const maxFileBytes = 4 * 2 ** 20;

/** A place the user sent from the editor, under the name models know. */
export type VisibleMention = IdeMention;

/** Formats a mention as `src/a.ts` or `src/a.ts, lines 3-5`. */
export const describeMention = ({ path, firstLine, lastLine }: VisibleMention): string =>
  firstLine === undefined || lastLine === undefined ? path : `${path}, ${lineRange({ firstLine, lastLine })}`;

/** Reads the places the user sent from the editor: the lines, or the file as `@path` attaches it. */
export const attachMentions = async (
  mentions: readonly VisibleMention[],
  opened: Pick<AgentSession, "services" | "attach">,
): Promise<readonly UserPart[]> => (await Promise.all(mentions.map((each) => attachMention(each, opened)))).flat();

const attachMention = async (
  mention: VisibleMention,
  { services, attach }: Pick<AgentSession, "services" | "attach">,
): Promise<readonly UserPart[]> => {
  const { path, firstLine, lastLine } = mention;
  const sentence = `Sent from my editor: ${describeMention(mention)}`;
  if (firstLine === undefined || lastLine === undefined) {
    // The first parts are the text itself and a heading.
    const { parts } = await attach(`@"${path}"`, new AbortController().signal);
    return [textPart(sentence), ...parts.slice(2)];
  }
  const { workspace } = await services();
  const bytes = await workspace.bytes(path, maxFileBytes).catch(() => undefined);
  if (bytes === undefined) return [];
  const lines = Buffer.from(bytes).toString("utf8").split("\n");
  const text = lines
    .slice(firstLine - 1, lastLine)
    .join("\n")
    .slice(0, maxSelectionLength);
  return [textPart(`${sentence}\n${fence(text)}`)];
};
