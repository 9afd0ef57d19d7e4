import type { ProviderField } from "../../conversation/entry.ts";
import { isObject, toPlainJson, type JsonObject, type JsonValue } from "../../conversation/json.ts";
import { note, type Note } from "../../conversation/notes.ts";
import type { OutputFormat, WireId } from "../../wire/wire.ts";
import { createOutputFormat } from "../../wire/schema/output.ts";
import type { InboundApi } from "../answers/answer.ts";
import type { Fields } from "./normalize.ts";

/** Settings that several APIs have under their own names, as fields of the target's API. */
export type TranslatedFields = {
  readonly fields: readonly ProviderField[];
  readonly output?: OutputFormat;
  readonly notes: readonly Note[];
};

/** Translates stop sequences, nucleus sampling and the schema of the answer to another API. */
export const translateFields = (api: InboundApi, body: Fields, to: WireId): TranslatedFields => {
  const notes: Note[] = [];
  const config = api === "gemini" ? objectOf(body["generationConfig"]) : body;
  const fields = [
    ...stopField(stopSequences(config), to, notes),
    // Several models refuse a request with both, so the temperature wins.
    ...(config["temperature"] === undefined ? topField(config["top_p"] ?? config["topP"], to) : []),
  ];
  const schema = outputSchema(api, body);
  return { fields, notes, ...(schema === undefined ? {} : { output: createOutputFormat(schema) }) };
};

const stopSequences = (config: Fields): readonly string[] => {
  const stop = config["stop_sequences"] ?? config["stop"] ?? config["stopSequences"];
  const list: readonly unknown[] = Array.isArray(stop) ? stop : [stop];
  return list.filter((text): text is string => typeof text === "string" && text !== "");
};

const stopField = (stop: readonly string[], to: WireId, notes: Note[]): readonly ProviderField[] => {
  const at = stopPaths[to];
  if (stop.length === 0) return [];
  if (at !== undefined) return [{ at, value: stop.slice(0, 4), loss: "The stop sequences are not carried over." }];
  notes.push(note("setting-adapted", "This API has no stop sequences; none are sent."));
  return [];
};

const stopPaths: Readonly<Record<WireId, string | undefined>> = {
  anthropic: "stop_sequences",
  bedrock: "inferenceConfig/stopSequences",
  gemini: "generationConfig/stopSequences",
  "openai-chat": "stop",
  "openai-responses": undefined,
};

const topField = (value: unknown, to: WireId): readonly ProviderField[] =>
  typeof value === "number"
    ? [{ at: topPaths[to], value, sampling: true, loss: "Nucleus sampling (top_p) is not carried over." }]
    : [];

const topPaths: Readonly<Record<WireId, string>> = {
  anthropic: "top_p",
  bedrock: "inferenceConfig/topP",
  gemini: "generationConfig/topP",
  "openai-chat": "top_p",
  "openai-responses": "top_p",
};

const outputSchema = (api: InboundApi, body: Fields): JsonObject | undefined => {
  const found = schemaIn(api, body);
  return isObject(found) ? (toPlainJson(found).value as JsonObject) : undefined;
};

const schemaIn = (api: InboundApi, body: Fields): unknown => {
  switch (api) {
    case "anthropic":
      return objectOf(objectOf(body["output_config"])["format"] ?? body["output_format"])["schema"];
    case "openai-chat":
      return objectOf(objectOf(body["response_format"])["json_schema"])["schema"];
    case "openai-responses":
      return objectOf(objectOf(body["text"])["format"])["schema"];
    case "gemini": {
      const config = objectOf(body["generationConfig"]);
      return (
        config["responseJsonSchema"] ??
        (config["responseSchema"] === undefined ? undefined : withPlainTypes(config["responseSchema"]))
      );
    }
  }
};

/** Gemini's own schema dialect names types in capitals. */
const withPlainTypes = (schema: unknown): JsonValue => {
  if (Array.isArray(schema)) return schema.map(withPlainTypes);
  if (!isObject(schema)) return schema as JsonValue;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      key === "type" && typeof value === "string" ? value.toLowerCase() : withPlainTypes(value),
    ]),
  );
};

const objectOf = (value: unknown): Fields => (isObject(value) ? value : {});
