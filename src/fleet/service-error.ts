/** The failures of a session service. Code reads `kind`; the message says what to do. */
export type ServiceFailure =
  /** No such session, or one of another tenant. */
  | { readonly kind: "not-found"; readonly id: string }
  /** The request cannot be carried out as it is. */
  | { readonly kind: "invalid"; readonly message: string }
  /** The key was used before for something else. */
  | { readonly kind: "key-reused"; readonly key: string }
  /** Nothing waits for this decision any more, or the question has changed. */
  | { readonly kind: "not-asked"; readonly call: string }
  /** A limit of the tenant or of the service is reached. */
  | { readonly kind: "limit"; readonly message: string }
  /** Another program holds the session. */
  | { readonly kind: "busy"; readonly id: string }
  /** The service is about to stop, or its storage does not answer. */
  | { readonly kind: "unavailable"; readonly message: string };

/** A thrown service failure. Match on `failure.kind`, never on the message. */
export class ServiceError extends Error {
  readonly failure: ServiceFailure;

  constructor(failure: ServiceFailure, options?: ErrorOptions) {
    super(explainServiceFailure(failure), options);
    this.name = "ServiceError";
    this.failure = failure;
  }
}

const explainServiceFailure = (failure: ServiceFailure): string => {
  switch (failure.kind) {
    case "not-found":
      return `There is no session ${failure.id}.`;
    case "invalid":
    case "limit":
    case "unavailable":
      return failure.message;
    case "key-reused":
      return `The idempotency key ${JSON.stringify(failure.key)} was used for another command. Use a new key for each command.`;
    case "not-asked":
      return `No approval of ${failure.call} is pending, or the question has changed. Read the session for the pending ones.`;
    case "busy":
      return `Session ${failure.id} is open in another program. Close it there, then try again.`;
  }
};
