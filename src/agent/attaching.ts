import { attachMentions } from "../context/attach.ts";
import { text as textPart, type Blobs, type UserPart } from "../conversation/index.ts";
import type { Workspace } from "../policy/workspace.ts";
import type { Disk } from "../world/index.ts";

/** A message with the files it mentions. */
export type Attaching = {
  readonly parts: readonly UserPart[];
  readonly blobs: Blobs;
  /** What was attached, and what could not be, in words. */
  readonly told: readonly string[];
};

/** Reads the files a message mentions as `@path`. A message without a mention costs nothing. */
export const attach = async (
  message: string,
  files: () => Promise<{ readonly disk: Disk; readonly workspace: Workspace }>,
  signal: AbortSignal,
): Promise<Attaching> => {
  if (!message.includes("@")) return { parts: [textPart(message)], blobs: {}, told: [] };
  const { disk, workspace } = await files();
  const { parts, blobs, attached, refused } = await attachMentions(message, { disk, files: workspace, signal });
  return {
    parts,
    blobs: Object.fromEntries(blobs.map(({ hash, base64 }) => [hash, base64])),
    told: [
      ...attached.map(({ path, isCut }) => `Attached ${path}${isCut ? " (its beginning)" : ""}.`),
      ...refused.map((each) => each.message),
    ],
  };
};
