/** The span a new one belongs to. */
export type SpanContext = { readonly trace: string; readonly id: string };

/** Parses a `traceparent` header (W3C Trace Context); undefined if it is not valid. */
export const parseTraceparent = (text: string | undefined): SpanContext | undefined => {
  const found = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/.exec(text ?? "");
  if (found === null) return undefined;
  const [, version, trace = "", id = "", more] = found;
  // Later versions may add fields; ff is reserved, and ids of zeros are missing ones.
  if (version === "ff" || (version === "00" && more !== undefined) || /^0+$/.test(trace) || /^0+$/.test(id))
    return undefined;
  return { trace, id };
};

/** Formats a span as a `traceparent` header. */
export const formatTraceparent = ({ trace, id }: SpanContext): string => `00-${trace}-${id}-01`;
