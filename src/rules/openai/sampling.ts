import { asObject } from "../walk.ts";

/** A setting of the request that the model does not support, with the vendor's message. */
export type UnsupportedField = { readonly field: string; readonly message: string };

/** The sampling settings an OpenAI model refuses on Chat Completions. */
export const unsupportedOnChat = (
  request: Record<string, unknown>,
  model: string | undefined,
): readonly UnsupportedField[] => {
  const fixed = isSamplingFixed(model, request["reasoning_effort"]);
  const { temperature } = request;
  return [
    ...(fixed && isOther(temperature, 1)
      ? [
          {
            field: "temperature",
            message: `Unsupported value: 'temperature' does not support ${String(temperature)} with this model. Only the default (1) value is supported.`,
          },
        ]
      : []),
    ...(fixed ? fixedFields(request, chatDefaults) : []),
    ...(isSet(request["stop"]) && refusesStop(model) ? [unsupported("stop")] : []),
    ...(isSet(request["parallel_tool_calls"]) && callsOneAtATime(model) ? [unsupported("parallel_tool_calls")] : []),
  ];
};

/** The sampling settings an OpenAI model refuses on Responses. */
export const unsupportedOnResponses = (
  request: Record<string, unknown>,
  model: string | undefined,
): readonly UnsupportedField[] =>
  isSamplingFixed(model, asObject(request["reasoning"])["effort"]) ? fixedFields(request, responsesDefaults) : [];

const unsupported = (field: string): UnsupportedField => ({
  field,
  message: `Unsupported parameter: '${field}' is not supported with this model.`,
});

const fixedFields = (
  request: Record<string, unknown>,
  defaults: ReadonlyMap<string, unknown>,
): readonly UnsupportedField[] =>
  [...defaults].filter(([field, usual]) => isOther(request[field], usual)).map(([field]) => unsupported(field));

/** Sampling settings and their default values. */
const chatDefaults: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ["top_p", 1],
  ["presence_penalty", 0],
  ["frequency_penalty", 0],
  ["logprobs", false],
]);
const responsesDefaults: ReadonlyMap<string, unknown> = new Map([
  ["temperature", 1],
  ["top_p", 1],
]);

const isSet = (value: unknown): boolean => value !== undefined && value !== null;

const isOther = (value: unknown, usual: unknown): boolean => isSet(value) && value !== usual;

/**
 * True when sampling cannot be set: always on the first reasoning models, on GPT-5.1 and later while they reason.
 * Without an effort the later ones may not reason at all, so nothing is assumed.
 */
const isSamplingFixed = (model: string | undefined, effort: unknown): boolean =>
  /^(o[134](-|$)|gpt-5(-mini|-nano|-codex|-pro|-image)?(-20\d\d|$))/.test(model ?? "") ||
  (/^gpt-5\.\d/.test(model ?? "") && !/-chat/.test(model ?? "") && isSet(effort) && effort !== "none");

/** Reported for o3, o4-mini and GPT-5 to 5.2, whatever the effort; later ones are reported both ways. */
const refusesStop = (model: string | undefined): boolean =>
  /^(o3(-20\d\d|$)|o3-pro|o4-mini|gpt-5(-mini|-nano|-codex|-pro)?(-20\d\d|$)|gpt-5\.[12](-20\d\d|$))/.test(model ?? "");

const callsOneAtATime = (model: string | undefined): boolean => /^(o1|o3-mini)(-20\d\d|$)/.test(model ?? "");
