import { toPlainJson, type JsonObject } from "../../conversation/json.ts";
import { createInputSchema } from "../../tools/schema.ts";
import type { InputSchema } from "../../tools/tool.ts";
import { findMismatches } from "./check-input.ts";

/**
 * Creates a validator that checks types and required parameters, and reports mismatches as a Zod type would: path and
 * expectation.
 */
export const createLooseSchema = (parameters: JsonObject): InputSchema =>
  createInputSchema((raw, _, mismatches) => {
    const input = toPlainJson(raw).value;
    for (const { path, expected } of findMismatches(parameters, input))
      mismatches.push({ path, message: `expected ${expected}` });
    return input;
  });
