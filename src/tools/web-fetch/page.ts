import { removeInvisible } from "./invisible-characters.ts";
import type { Capabilities, FetchResult } from "../capabilities.ts";
import { readImageSize } from "../files/image-size.ts";
import { sniffContentType, sniffLength } from "../files/sniff.ts";
import { ToolFailure, type ToolFile } from "../tool.ts";
import { toFetchUrl } from "./urls.ts";
import { decodeEntities } from "./html-entities.ts";
import { htmlToText } from "./html-to-text.ts";

/** The result of fetching a URL: text, a file, or a failure. */
export type WebPage = { readonly url: string } & (
  | { readonly type: "text"; readonly title: string; readonly text: string }
  | { readonly type: "file"; readonly file: ToolFile }
  | { readonly type: "failure"; readonly failure: ToolFailure }
);

/** Fetches one URL and reads the response. An error status is a failure. Throws only when aborted. */
export const fetchPage = async (
  url: string,
  { web, signal }: Pick<Capabilities, "web" | "signal">,
): Promise<WebPage> => {
  try {
    const fetched = await web.fetch(toFetchUrl(url), { most: maxBytes, signal });
    if (fetched.status < 200 || fetched.status >= 300)
      throw new Error(`Request failed with status code ${fetched.status}`);
    return { url, ...(await readFetched(fetched)) };
  } catch (error) {
    signal.throwIfAborted();
    return { url, type: "failure", failure: toToolFailure(error, url) };
  }
};

/** No provider accepts larger files. */
const maxBytes = 20 * 2 ** 20;

/** HTML beyond this length is dropped before it is converted to text. */
const maxHtmlLength = 4 * 2 ** 20;

const toToolFailure = (error: unknown, url: string): ToolFailure => {
  if (error instanceof ToolFailure) return error;
  const words = error instanceof Error ? error.message : String(error);
  return new ToolFailure("web_fetch_fallback_failed", `Error during fallback fetch for ${url}: ${words}`, {
    cause: error,
  });
};

type WebPageContent =
  | { readonly type: "text"; readonly title: string; readonly text: string }
  | { readonly type: "file"; readonly file: ToolFile };

const readFetched = async (fetched: FetchResult): Promise<WebPageContent> => {
  const type = fetched.type.split(";")[0]?.trim().toLowerCase() ?? "";
  if (isHtml(type)) return readHtmlPage(fetched, decodeBody(fetched, findMetaCharset(fetched)));
  if (isText(type)) return { type: "text", title: "", text: finishText(fetched, decodeBody(fetched, "utf-8")) };
  // The bytes decide, not the claimed type: a model API rejects an image that is none.
  const contentType = await sniffContentType(fetched.bytes.subarray(0, sniffLength), new URL(fetched.url).pathname);
  switch (contentType.kind) {
    case "media":
      return { type: "file", file: toFile(fetched, contentType.mimeType) };
    case "text":
      return { type: "text", title: "", text: finishText(fetched, decodeBody(fetched, contentType.encoding)) };
    case "binary":
      throw createUnreadableError(
        fetched,
        `the response (${type || "of no stated type"}) is neither text nor a supported file type`,
      );
  }
};

const isHtml = (type: string): boolean => type === "text/html" || type === "application/xhtml+xml";

const isText = (type: string): boolean =>
  type.startsWith("text/") ||
  /[+/](json|xml|yaml|x-yaml|toml|javascript|ecmascript|typescript|graphql|sql|x-sh|x-ndjson|jsonl|csv|rtf)$/.test(
    type,
  );

const createUnreadableError = ({ url }: FetchResult, why: string): ToolFailure =>
  new ToolFailure("web_fetch_processing_error", `Error processing web content of ${url}: ${why}.`);

const toFile = (fetched: FetchResult, mimeType: string): ToolFile => {
  if (fetched.cut) throw createUnreadableError(fetched, `the file is larger than ${maxBytes / 2 ** 20} MB`);
  const { pathname, hostname } = new URL(fetched.url);
  const name = pathname.split("/").at(-1) || hostname;
  return { type: "file", mimeType, bytes: fetched.bytes, name, ...readImageSize(fetched.bytes, mimeType) };
};

const readHtmlPage = async (fetched: FetchResult, html: string): Promise<WebPageContent> => {
  const title = decodeEntities(/<title[^>]{0,200}>([^<]{0,300})/i.exec(html.slice(0, 2 ** 17))?.[1] ?? "").trim();
  const isCut = html.length > maxHtmlLength;
  return {
    type: "text",
    title,
    text: finishText({ cut: fetched.cut || isCut }, await htmlToText(html.slice(0, maxHtmlLength))),
  };
};

const finishText = ({ cut }: { readonly cut: boolean }, text: string): string => {
  const { text: seen, removed } = removeInvisible(text);
  return [
    seen,
    ...(cut ? ["[Truncated: the rest of the page was too long to fetch.]"] : []),
    ...(removed === 0
      ? []
      : [`[${removed} invisible ${removed === 1 ? "character was" : "characters were"} removed.]`]),
  ].join("\n\n");
};

/** A page may declare its encoding in its first kilobyte, where the server does not. */
const findMetaCharset = ({ bytes }: FetchResult): string =>
  /<meta[^>]{0,200}?charset\s{0,8}=\s{0,8}["']?([\w-]{1,40})/i.exec(
    Buffer.from(bytes.subarray(0, 1024)).toString("latin1"),
  )?.[1] ?? "utf-8";

const decodeBody = ({ bytes, type }: FetchResult, otherwise: string): string => {
  const stated = /charset\s{0,8}=\s{0,8}["']?([\w-]{1,40})/i.exec(type)?.[1];
  const decoder = createDecoder(stated ?? otherwise);
  // In one call, Node 20 takes windows-1252 for ISO 8859-1; as a stream it does not.
  return decoder.decode(bytes, { stream: true }) + decoder.decode();
};

const createDecoder = (encoding: string): TextDecoder => {
  try {
    return new TextDecoder(encoding);
  } catch {
    return new TextDecoder();
  }
};
