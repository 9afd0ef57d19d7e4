import { removeUnseen } from "./unseen-characters.ts";
import type { Capabilities, Fetched } from "./capabilities.ts";
import { sizeOfImage } from "./image-size.ts";
import { sniff, sniffLength } from "./sniff.ts";
import { ToolFailure, type ToolFile } from "./tool.ts";
import { fetchedFrom } from "./web-fetch-addresses.ts";
import { decodeEntities } from "./web-fetch-entities.ts";
import { htmlToText } from "./web-fetch-html.ts";

/** What an address gave: words, a file, or nothing. */
export type Page = { readonly url: string } & (
  | { readonly type: "text"; readonly title: string; readonly text: string }
  | { readonly type: "file"; readonly file: ToolFile }
  | { readonly type: "failure"; readonly failure: ToolFailure }
);

/** Fetches one address and reads what comes. A page that says it is an error is one. Throws only when it is told to stop. */
export const fetchPage = async (url: string, { web, signal }: Pick<Capabilities, "web" | "signal">): Promise<Page> => {
  try {
    const fetched = await web.fetch(fetchedFrom(url), { most: mostBytes, signal });
    if (fetched.status < 200 || fetched.status >= 300)
      throw new Error(`Request failed with status code ${fetched.status}`);
    return { url, ...(await read(fetched)) };
  } catch (error) {
    signal.throwIfAborted();
    return { url, type: "failure", failure: asFailure(error, url) };
  }
};

/** No provider takes larger files. */
const mostBytes = 20 * 2 ** 20;

/** Of a longer page, the rest is left out before it is made text. */
const mostMarkup = 4 * 2 ** 20;

const asFailure = (error: unknown, url: string): ToolFailure => {
  if (error instanceof ToolFailure) return error;
  const words = error instanceof Error ? error.message : String(error);
  return new ToolFailure("web_fetch_fallback_failed", `Error during fallback fetch for ${url}: ${words}`, {
    cause: error,
  });
};

type Content =
  | { readonly type: "text"; readonly title: string; readonly text: string }
  | { readonly type: "file"; readonly file: ToolFile };

const read = async (fetched: Fetched): Promise<Content> => {
  const type = fetched.type.split(";")[0]?.trim().toLowerCase() ?? "";
  if (isHtml(type)) return page(fetched, decoded(fetched, metaCharset(fetched)));
  if (isText(type)) return { type: "text", title: "", text: whole(fetched, decoded(fetched, "utf-8")) };
  // What else it claims to be counts less than what it is: a model's maker refuses a picture that is none.
  const what = await sniff(fetched.bytes.subarray(0, sniffLength), new URL(fetched.url).pathname);
  switch (what.kind) {
    case "media":
      return { type: "file", file: fileOf(fetched, what.mimeType) };
    case "text":
      return { type: "text", title: "", text: whole(fetched, decoded(fetched, what.encoding)) };
    case "binary":
      throw unreadable(
        fetched,
        `what came (${type || "of no stated type"}) is neither text nor a file a model can take`,
      );
  }
};

const isHtml = (type: string): boolean => type === "text/html" || type === "application/xhtml+xml";

const isText = (type: string): boolean =>
  type.startsWith("text/") ||
  /[+/](json|xml|yaml|x-yaml|toml|javascript|ecmascript|typescript|graphql|sql|x-sh|x-ndjson|jsonl|csv|rtf)$/.test(
    type,
  );

const unreadable = ({ url }: Fetched, why: string): ToolFailure =>
  new ToolFailure("web_fetch_processing_error", `Error processing web content of ${url}: ${why}.`);

const fileOf = (fetched: Fetched, mimeType: string): ToolFile => {
  if (fetched.cut) throw unreadable(fetched, `the file is larger than ${mostBytes / 2 ** 20} MB`);
  const { pathname, hostname } = new URL(fetched.url);
  const name = pathname.split("/").at(-1) || hostname;
  return { type: "file", mimeType, bytes: fetched.bytes, name, ...sizeOfImage(fetched.bytes, mimeType) };
};

const page = async (fetched: Fetched, html: string): Promise<Content> => {
  const title = decodeEntities(/<title[^>]{0,200}>([^<]{0,300})/i.exec(html.slice(0, 2 ** 17))?.[1] ?? "").trim();
  const isCut = html.length > mostMarkup;
  return {
    type: "text",
    title,
    text: whole({ cut: fetched.cut || isCut }, await htmlToText(html.slice(0, mostMarkup))),
  };
};

const whole = ({ cut }: { readonly cut: boolean }, text: string): string => {
  const { text: seen, removed } = removeUnseen(text);
  return [
    seen,
    ...(cut ? ["[The page goes on: the rest was too long to be fetched.]"] : []),
    ...(removed === 0
      ? []
      : [`[${removed} invisible ${removed === 1 ? "character was" : "characters were"} removed.]`]),
  ].join("\n\n");
};

/** A page may say its encoding in its first kilobyte, where the server does not. */
const metaCharset = ({ bytes }: Fetched): string =>
  /<meta[^>]{0,200}?charset\s{0,8}=\s{0,8}["']?([\w-]{1,40})/i.exec(
    Buffer.from(bytes.subarray(0, 1024)).toString("latin1"),
  )?.[1] ?? "utf-8";

const decoded = ({ bytes, type }: Fetched, otherwise: string): string => {
  const stated = /charset\s{0,8}=\s{0,8}["']?([\w-]{1,40})/i.exec(type)?.[1];
  const decoder = decoderFor(stated ?? otherwise);
  // In one go, Node 20 takes windows-1252 for ISO 8859-1; as a stream it does not.
  return decoder.decode(bytes, { stream: true }) + decoder.decode();
};

const decoderFor = (encoding: string): TextDecoder => {
  try {
    return new TextDecoder(encoding);
  } catch {
    return new TextDecoder();
  }
};
