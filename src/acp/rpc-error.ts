/** An error that a request is answered with. The message is one sentence for the person. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  readonly data: object | undefined;

  constructor(code: number, message: string, data?: object) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** The error codes of JSON-RPC and of the protocol. */
export const errorCodes = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  authRequired: -32000,
  notFound: -32002,
  cancelled: -32800,
} as const;

export const invalidParams = (message: string): RpcError => new RpcError(errorCodes.invalidParams, message);

/** Some clients show `data.error` instead of the message. */
export const internalError = (message: string, data: object = {}): RpcError =>
  new RpcError(errorCodes.internal, message, { error: message, ...data });
