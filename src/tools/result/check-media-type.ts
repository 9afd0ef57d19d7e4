import { readImageSize } from "../files/image-size.ts";
import { sniffContentType, sniffLength } from "../files/sniff.ts";

/**
 * Checks bytes against their claimed media type and returns the real one; undefined where they are nothing of that
 * kind. An API rejects a whole request for one invalid image, and with it every later request of the session.
 */
export const checkMediaType = async (bytes: Uint8Array, said: string, name = ""): Promise<string | undefined> => {
  const found = await sniffContentType(bytes.subarray(0, sniffLength), name);
  const real = found.kind === "media" ? found.mimeType : said;
  const claimed = mediaFamily(said);
  if (claimed === "image" && said !== "image/svg+xml" && (found.kind !== "media" || mediaFamily(real) !== "image"))
    return undefined;
  if (said === "application/pdf" && real !== said) return undefined;
  if (said === "application/pdf" && found.kind !== "media") return undefined;
  if ((claimed === "audio" || claimed === "video") && found.kind === "text") return undefined;
  return typesWithSize.has(real) && readImageSize(bytes, real).width === undefined ? undefined : real;
};

const mediaFamily = (type: string): string => type.slice(0, type.indexOf("/"));

/** Types with a size in their header. Without a size, the data is truncated or invalid. */
const typesWithSize: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
