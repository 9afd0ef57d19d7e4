import { ServiceError } from "../fleet/service-error.ts";
import { A2aError } from "./protocol.ts";

/** Turns any error into one of A2A. The words of an unexpected one are not sent. */
export const toA2aError = (error: unknown): A2aError => {
  if (error instanceof A2aError) return error;
  if (!(error instanceof ServiceError)) return new A2aError("INTERNAL");
  if (error.failure.kind === "not-found") return new A2aError("TASK_NOT_FOUND");
  return new A2aError(error.failure.kind === "unavailable" ? "INTERNAL" : "INVALID_PARAMS", error.message);
};
