import { attachMentions } from "../../context/mentions/attach.ts";
import type { AttachOptions } from "../../context/mentions/attach-file.ts";
import { text as textPart } from "../../conversation/builders.ts";
import type { Blobs } from "../../conversation/entry.ts";
import type { StoredMedia } from "../../conversation/media.ts";
import type { UserPart } from "../../conversation/parts.ts";
import type { McpServers } from "../../mcp/servers.ts";
import type { Workspace } from "../../policy/workspace/open.ts";
import { storeFile } from "../../tools/result/store-file.ts";
import type { Disk } from "../../world/disk.ts";

/** A prompt with the files it mentions. */
export type PromptAttachments = {
  readonly parts: readonly UserPart[];
  readonly blobs: Blobs;
  /** Messages for the person: the files attached, and those that could not be. */
  readonly messages: readonly string[];
};

/** Where mentions are looked up. */
export type MentionSources = {
  readonly disk: Disk;
  readonly workspace: Workspace;
  readonly servers: Pick<McpServers, "readMention"> | undefined;
  readonly signal: AbortSignal;
};

/** Reads the files a prompt mentions as `@path`, and resources of MCP servers. */
export const resolveMentions = async (
  message: string,
  { disk, workspace, servers, signal }: MentionSources,
): Promise<PromptAttachments> => {
  const { parts, blobs, attached, refused } = await attachMentions(message, {
    disk,
    files: workspace,
    signal,
    ...(servers === undefined ? {} : { resource: createResourceReader(servers, workspace) }),
  });
  return {
    parts,
    blobs: Object.fromEntries(blobs.map(({ hash, base64 }) => [hash, base64])),
    messages: [
      ...attached.map(({ shown, isCut }) => `Attached ${shown}${isCut ? " (its beginning)" : ""}.`),
      ...refused.map((each) => each.message),
    ],
  };
};

/** Reads resources of MCP servers. One that cannot be read is attached as a text that says so. */
const createResourceReader =
  (servers: Pick<McpServers, "readMention">, files: Workspace): NonNullable<AttachOptions["resource"]> =>
  async (server, uri, signal) => {
    const contents = await servers.readMention(`${server}:${uri}`, { signal, files }).catch((error: unknown) => {
      if (signal.aborted || !(error instanceof Error)) throw error;
      return [textPart(`(It could not be read: ${error.message})`)];
    });
    if (contents === undefined) return undefined;
    const blobs: StoredMedia["blob"][] = [];
    const parts = contents.map((content): UserPart => {
      switch (content.type) {
        case "text":
          return content;
        case "structured":
          return textPart(JSON.stringify(content.value));
        case "file": {
          const { media, blob } = storeFile(content);
          if (blob !== undefined) blobs.push(blob);
          return media;
        }
      }
    });
    return { parts: [textPart(`--- ${server}:${uri} ---`), ...parts], blobs };
  };
