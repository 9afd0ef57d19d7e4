import { toPlain, type JsonObject } from "../conversation/json.ts";
import type { InputSchema } from "../tools/tool.ts";
import { mismatchesOf } from "./schema-check.ts";

/** Takes what fits at a glance, and answers about the rest as a Zod type would: where it is, and what is expected. */
export const looseInput = (parameters: JsonObject): InputSchema => ({
  safeParseAsync: async (raw) => {
    const input = toPlain(raw).value;
    const issues = mismatchesOf(parameters, input).map(({ path, expected }) => ({
      code: "custom",
      path: [...path],
      message: `expected ${expected}`,
      input,
    }));
    return (issues.length === 0 ? { success: true, data: input } : { success: false, error: { issues } }) as never;
  },
});
