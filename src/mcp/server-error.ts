/** A failed request to a server. The message may be shown to the model, sanitized. */
export class McpServerError extends Error {
  readonly kind: "refused" | "timeout" | "gone" | "sign-in";

  constructor(kind: McpServerError["kind"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
