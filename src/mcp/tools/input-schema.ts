import { toPlainJson, type JsonObject } from "../../conversation/json.ts";
import type { InputSchema } from "../../tools/tool.ts";
import { findMismatches } from "./check-input.ts";

/**
 * Creates a validator that checks types and required parameters, and reports mismatches as a Zod type would: path and
 * expectation.
 */
export const createLooseSchema = (parameters: JsonObject): InputSchema => ({
  safeParseAsync: async (raw) => {
    const input = toPlainJson(raw).value;
    const issues = findMismatches(parameters, input).map(({ path, expected }) => ({
      code: "custom",
      path: [...path],
      message: `expected ${expected}`,
      input,
    }));
    return (issues.length === 0 ? { success: true, data: input } : { success: false, error: { issues } }) as never;
  },
});
