import { text } from "../../conversation/builders.ts";
import type { UserPart } from "../../conversation/parts.ts";
import type { Workspace } from "../../policy/workspace/open.ts";
import { attachFile } from "../mentions/attach-file.ts";
import type { WorkspaceScan } from "./scan.ts";

/** Where the files are, and how much of them fits. */
export type FullContextOptions = {
  readonly files: Pick<Workspace, "open" | "ignored">;
  readonly scans: readonly WorkspaceScan[];
  /** Characters in all; 1,000,000 if not given. */
  readonly maxCharacters?: number;
  readonly signal: AbortSignal;
};

/** The contents of all text files that were seen, for models with room for a whole project, and a last word on what is missing. */
export const readFullContext = async ({
  files,
  scans: surveys,
  maxCharacters: most = 1_000_000,
  signal,
}: FullContextOptions): Promise<readonly UserPart[]> => {
  const paths = surveys.flatMap(({ root, folders }) =>
    folders.flatMap(({ path, files: names, isVisible: isSeen }) =>
      names.filter(isSeen).map((name) => [root, path, name].filter(Boolean).join("/")),
    ),
  );
  const parts: UserPart[] = [];
  // No room for media: only text is wanted.
  const room = { characters: most, bytes: 0 };
  let left = 0;
  for (const path of paths) {
    signal.throwIfAborted();
    if (isGenerated(path)) continue;
    const file = await attachFile(files, path, { room, signal });
    if (file.type === "attached") parts.push(...file.parts);
    else if (file.reason === "too-large") left += 1;
  }
  const unseen = surveys.flatMap(({ folders }) => folders).filter(({ skipped: closed }) => closed === "far");
  const ending = [
    `--- End of the files: ${parts.length} are here.`,
    ...(left === 0 ? [] : [`${left} more are media or had no room.`]),
    ...(unseen.length === 0 ? [] : [`${unseen.length} folders were not looked into.`]),
  ].join(" ");
  return [text("The text files of the workspace:"), ...parts, text(`${ending} ---`)];
};

/** What programs write for programs. */
const isGenerated = (path: string): boolean =>
  /(^|\/)(package-lock\.json|pnpm-lock\.yaml|\.env(\..+)?|[^/]+\.(lock|map|min\.(js|css)))$/.test(path);
