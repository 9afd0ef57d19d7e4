/** Builds a data URL (`data:image/png;base64,...`) from bytes or from base64 text. Parameters of the media type are dropped. */
export const toDataUrl = (mimeType: string, data: Uint8Array | string): string =>
  `data:${/^[^;,\s]*/.exec(mimeType)![0]};base64,${typeof data === "string" ? data : Buffer.from(data).toString("base64")}`;

/** Parses a data URL, base64 or percent-encoded, into media type and bytes; undefined for any other text. */
export const parseDataUrl = (url: string): { readonly mimeType: string; readonly bytes: Uint8Array } | undefined => {
  const [, head, data] = /^data:([^,]*),(.*)$/is.exec(url) ?? [];
  if (head === undefined || data === undefined) return undefined;
  const [type = "", ...parameters] = head.split(";").map((part) => part.trim().toLowerCase());
  const bytes = decodePercent(data);
  return {
    // RFC 2397: without a type it is plain text.
    mimeType: type === "" ? "text/plain" : type,
    bytes: parameters.includes("base64") ? Buffer.from(bytes.toString("latin1"), "base64") : bytes,
  };
};

const decodePercent = (text: string): Buffer =>
  Buffer.from(
    Buffer.from(text, "utf8")
      .toString("latin1")
      .replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  );
