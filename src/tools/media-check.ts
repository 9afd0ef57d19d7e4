import { sizeOfImage } from "./image-size.ts";
import { sniff, sniffLength } from "./sniff.ts";

/**
 * The media type of bytes that are said to be of a type; undefined where they are nothing of that kind. An API refuses a
 * whole request for one picture that is none, and with it every later request of the session.
 */
export const checkedType = async (bytes: Uint8Array, said: string, name = ""): Promise<string | undefined> => {
  const found = await sniff(bytes.subarray(0, sniffLength), name);
  const real = found.kind === "media" ? found.mimeType : said;
  const claimed = familyOf(said);
  if (claimed === "image" && said !== "image/svg+xml" && (found.kind !== "media" || familyOf(real) !== "image"))
    return undefined;
  if (said === "application/pdf" && real !== said) return undefined;
  if (said === "application/pdf" && found.kind !== "media") return undefined;
  if ((claimed === "audio" || claimed === "video") && found.kind === "text") return undefined;
  return measured.has(real) && sizeOfImage(bytes, real).width === undefined ? undefined : real;
};

const familyOf = (type: string): string => type.slice(0, type.indexOf("/"));

/** Types whose header tells a size. One without a size is cut off or made up. */
const measured: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
