import { text } from "../../conversation/builders.ts";
import type { UserPart } from "../../conversation/parts.ts";
import type { Workspace } from "../../policy/workspace/open.ts";
import { attachFile } from "../mentions/attach-file.ts";
import type { WorkspaceScan } from "./scan.ts";

/** The files to include, and their size limit. */
export type FullContextOptions = {
  readonly files: Pick<Workspace, "open" | "ignored">;
  readonly scans: readonly WorkspaceScan[];
  /** Total characters; default: 1,000,000. */
  readonly maxCharacters?: number;
  readonly signal: AbortSignal;
};

/** Reads all text files of the scans, for models with a large context window, and says what is missing. */
export const readFullContext = async ({
  files,
  scans,
  maxCharacters = 1_000_000,
  signal,
}: FullContextOptions): Promise<readonly UserPart[]> => {
  const paths = scans.flatMap(({ root, folders }) =>
    folders.flatMap(({ path, files: names, isVisible }) =>
      names.filter(isVisible).map((name) => [root, path, name].filter(Boolean).join("/")),
    ),
  );
  const parts: UserPart[] = [];
  // No budget for media: only text is included.
  const budget = { characters: maxCharacters, bytes: 0 };
  let left = 0;
  for (const path of paths) {
    signal.throwIfAborted();
    if (isGenerated(path)) continue;
    const file = await attachFile(files, path, { budget, signal });
    if (file.type === "attached") parts.push(...file.parts);
    else if (file.reason === "too-large") left += 1;
  }
  const unseen = scans.flatMap(({ folders }) => folders).filter(({ skipped: closed }) => closed === "limit");
  const ending = [
    `--- End of the files: ${parts.length} are here.`,
    ...(left === 0 ? [] : [`${left} more are media or had no room.`]),
    ...(unseen.length === 0 ? [] : [`${unseen.length} folders were not looked into.`]),
  ].join(" ");
  return [text("The text files of the workspace:"), ...parts, text(`${ending} ---`)];
};

/** Lock files, source maps, minified code and .env files. */
const isGenerated = (path: string): boolean =>
  /(^|\/)(package-lock\.json|pnpm-lock\.yaml|\.env(\..+)?|[^/]+\.(lock|map|min\.(js|css)))$/.test(path);
