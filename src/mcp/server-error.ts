/** Why a server did not do as it was asked. The message may be shown to the model, made plain. */
export class McpServerError extends Error {
  readonly kind: "refused" | "timeout" | "gone" | "sign-in";

  constructor(kind: McpServerError["kind"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
