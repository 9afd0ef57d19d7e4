import type { ModelSettings } from "../../settings/schema/values.ts";
import type { RequestSettings } from "../../wire/wire.ts";

/** Applies what settings say about a model to the settings of its requests. */
export const applyModelSettings = (
  settings: RequestSettings,
  { maxOutput, reasoning }: ModelSettings = {},
): RequestSettings => {
  const { thinking, thoughts, maxTokens, ...others } = settings;
  const most = Math.min(maxTokens ?? Number.POSITIVE_INFINITY, maxOutput ?? Number.POSITIVE_INFINITY);
  return {
    ...others,
    ...(Number.isFinite(most) ? { maxTokens: most } : {}),
    ...(thinking === undefined || reasoning === false ? {} : { thinking }),
    ...(thoughts === undefined || reasoning === false ? {} : { thoughts }),
  };
};
