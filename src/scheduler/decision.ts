import { isObject } from "../conversation/json.ts";
import type { Always } from "../policy/gate.ts";
import type { Decision } from "./events.ts";

/**
 * Reads an answer from a front end into a new object. The types promise a `Decision`, but front ends are also scripts
 * without types: whatever is not exactly one of the decisions is a refusal.
 */
export const readDecision = (answer: unknown): Decision => {
  const { type, scope, text, reason } = isObject(answer) ? answer : {};
  switch (type) {
    case "once":
    case "cancel":
      return { type };
    case "always":
      return isScope(scope) ? { type, scope } : unknownDecision;
    case "edit":
      return typeof text === "string" ? { type, text } : unknownDecision;
    case "refuse":
      return typeof reason === "string" ? { type, reason } : { type };
    default:
      return unknownDecision;
  }
};

const unknownDecision: Decision = {
  type: "refuse",
  reason: "the answer to its question was not a known decision, so it did not run.",
};

const scopes: { readonly [scope in Always["type"]]: true } = { tool: true, server: true, command: true };

const isScope = (scope: unknown): scope is Always["type"] => typeof scope === "string" && Object.hasOwn(scopes, scope);
