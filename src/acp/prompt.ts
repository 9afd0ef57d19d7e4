import { fileURLToPath } from "node:url";
import type { Blobs } from "../conversation/entry.ts";
import { isObject } from "../conversation/json.ts";
import { storeBase64 } from "../conversation/media.ts";
import type { UserPart } from "../conversation/parts.ts";
import { invalidParams } from "./rpc-error.ts";

/** A prompt: its text, with mentions of the files it links to, and the parts that follow the text. */
export type ClientPrompt = {
  readonly text: string;
  readonly parts: readonly UserPart[];
  readonly blobs: Blobs;
};

/** Reads the content blocks of a prompt. Throws for a block that is none. */
export const readPrompt = (blocks: unknown): ClientPrompt => {
  if (!Array.isArray(blocks)) throw invalidParams("prompt must be a list of content blocks.");
  const texts: string[] = [];
  const parts: UserPart[] = [];
  const blobs: Record<string, string> = {};
  const addMedia = (data: string, mimeType: string, name?: string): void => {
    const { media, blob } = storeBase64(data, { mimeType, ...(name === undefined ? {} : { name }) });
    blobs[blob.hash] = blob.base64;
    parts.push(media);
  };
  for (const block of blocks as readonly unknown[]) {
    const { type, ...fields } = isObject(block) ? block : {};
    switch (type) {
      case "text":
        texts.push(stringField(fields, "text"));
        break;
      case "image":
      case "audio":
        addMedia(stringField(fields, "data"), mimeTypeOf(fields, type === "image" ? "image/png" : "audio/wav"));
        break;
      case "resource_link":
        texts.push(mentionOf(stringField(fields, "uri"), fields["name"]));
        break;
      case "resource": {
        const resource = isObject(fields["resource"]) ? fields["resource"] : {};
        const uri = stringField(resource, "uri");
        const name = pathOf(uri) ?? uri;
        if (typeof resource["blob"] === "string")
          addMedia(resource["blob"], mimeTypeOf(resource, "application/octet-stream"), name.split("/").at(-1));
        else {
          texts.push(name);
          parts.push({ type: "text", text: `--- ${name} ---\n${stringField(resource, "text")}` });
        }
        break;
      }
      default:
        throw invalidParams(`Unknown content block ${JSON.stringify(type ?? null)} in prompt.`);
    }
  }
  return { text: joinTexts(texts), parts, blobs };
};

/** A link to a file becomes a mention, so that the file is attached; any other link is named. */
const mentionOf = (uri: string, name: unknown): string => {
  const path = pathOf(uri);
  if (path !== undefined && !path.includes('"')) return `@"${path}"${lineRange(uri)}`;
  return typeof name === "string" && name !== uri ? `[${name}](${uri})` : uri;
};

/** Zed links to lines of a file as `#L10:20`. */
const lineRange = (uri: string): string => {
  const [, from, to] = /#L(\d+)(?:[:-]L?(\d+))?$/.exec(uri) ?? [];
  if (from === undefined) return "";
  return to === undefined || to === from ? ` (line ${from})` : ` (lines ${from} to ${to})`;
};

const pathOf = (uri: string): string | undefined => {
  if (uri.startsWith("/")) return uri;
  try {
    return uri.startsWith("file:") ? fileURLToPath(uri.replace(/[#?].*$/, "")) : undefined;
  } catch {
    return undefined;
  }
};

/** Editors split a text at its links: a space is added only where there is none. */
const joinTexts = (texts: readonly string[]): string =>
  texts
    .filter((text) => text !== "")
    .reduce(
      (all, text) => (all === "" ? text : /\s$/.test(all) || /^\s/.test(text) ? all + text : `${all} ${text}`),
      "",
    );

const stringField = (fields: Readonly<Record<string, unknown>>, name: string): string => {
  const value = fields[name];
  if (typeof value !== "string") throw invalidParams(`A content block of the prompt has no ${name}.`);
  return value.toWellFormed();
};

const mimeTypeOf = (fields: Readonly<Record<string, unknown>>, otherwise: string): string =>
  typeof fields["mimeType"] === "string" && fields["mimeType"] !== "" ? fields["mimeType"] : otherwise;
