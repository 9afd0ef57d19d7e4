import type { JsonObject } from "../conversation/index.ts";

/** A schema in one API's dialect; `changed` says what had to go. */
export type Adapted = { readonly schema: JsonObject; readonly changed?: string };

/** Anthropic: an object at the top, and no choice between shapes there. */
export const anthropicSchema = (schema: JsonObject | undefined): Adapted => ({
  schema: { type: "object", properties: {}, ...schema },
});
