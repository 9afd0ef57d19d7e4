import type { IncomingMessage } from "node:http";

/** Why a request body was not read. */
export class RequestBodyError extends Error {
  readonly status: 400 | 408 | 413 | 415;

  constructor(status: 400 | 408 | 413 | 415, message: string) {
    super(message);
    this.name = "RequestBodyError";
    this.status = status;
  }
}

export type RequestBodyLimits = {
  readonly bytes: number;
  /** Media types it may have, without parameters. A page can send other types without asking first, so they are refused. */
  readonly types?: readonly string[];
};

/** Reads a body of at most `bytes`. What is longer is not kept in memory, and the connection is closed after the answer. */
export const readRequestBody = async (
  request: IncomingMessage,
  { bytes: most, types }: RequestBodyLimits,
): Promise<Buffer> => {
  const type = (request.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  const hasBody =
    (request.headers["content-length"] ?? "0") !== "0" || request.headers["transfer-encoding"] !== undefined;
  if (types !== undefined && hasBody && !types.includes(type))
    throw new RequestBodyError(415, `The body must be ${types.join(" or ")}.`);
  if ((request.headers["content-encoding"] ?? "identity") !== "identity")
    throw new RequestBodyError(415, "Send the body without compression.");
  const tooLarge = new RequestBodyError(413, `The body must not be longer than ${most} bytes.`);
  if (Number(request.headers["content-length"] ?? 0) > most) throw tooLarge;
  const chunks: Buffer[] = [];
  let size = 0;
  // By default an iterator that is left early destroys the connection, and with it the answer.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > most) throw tooLarge;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

/**
 * Reads what is left of a request and drops it; resolves at its end or at a limit. A connection that is closed while its sender still
 * sends is reset, and the sender may lose the answer that was sent before.
 */
export const discardRequestBody = (
  request: IncomingMessage,
  { bytes: most, milliseconds }: { readonly bytes: number; readonly milliseconds: number },
): Promise<void> =>
  new Promise((resolve) => {
    if (request.complete || request.destroyed) return resolve();
    let size = 0;
    const timer = setTimeout(() => end(), milliseconds);
    const count = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > most) end();
    };
    const end = (): void => {
      clearTimeout(timer);
      request.off("data", count).off("end", end).off("close", end).off("error", end);
      resolve();
    };
    request.on("data", count).once("end", end).once("close", end).once("error", end);
  });

/** Reads a JSON body. An empty one is undefined. */
export const readJsonBody = async (request: IncomingMessage, limits: RequestBodyLimits): Promise<unknown> => {
  const bytes = await readRequestBody(request, limits);
  if (bytes.length === 0) return undefined;
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as unknown;
  } catch {
    throw new RequestBodyError(400, "The body is not valid JSON in UTF-8.");
  }
};
