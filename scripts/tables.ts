/*
 * The tables of the documents, generated from the code they describe.
 */
import { providers } from "../src/providers/all.ts";
import type { Auth, Provider } from "../src/providers/define.ts";
import { type Quirk, quirks } from "../src/providers/quirks.ts";
import { retryPolicy, type RetryPolicy } from "../src/transport/retry/policy.ts";
import { explainFailure, type Failure } from "../src/transport/failure.ts";
import {
  classifyError,
  type ReportedError,
  type ErrorClassification,
  type ProviderIdentity,
} from "../src/transport/retry/classify.ts";
import { MalformedStreamError } from "../src/transport/stream/frames.ts";
import { toAttemptError, AttemptError } from "../src/transport/retry/attempt-error.ts";
import { quirkMessages } from "../src/transport/retry/quirks.ts";
import { ResponseTimeoutError } from "../src/transport/stream/timeouts.ts";
import { describeShape, type Shape } from "../src/settings/schema/shape.ts";
import { settingPaths, settingsTable as settings, type Setting } from "../src/settings/schema/table.ts";
import { builtinTools } from "../src/tools/builtins.ts";
import { declareTool } from "../src/tools/declare.ts";
import { chordLabel, keyActions, type KeyContext } from "../src/tui/keys/actions.ts";
import { NetError } from "../src/world/net.ts";

const declaredTools = await Promise.all(
  builtinTools.map(async (tool) => ({ tool, parameters: (await declareTool(tool)).parameters ?? {} })),
);

/** All tables, by the name used in the documents. */
export const tables: Readonly<Record<string, () => string>> = {
  providers: () =>
    table([
      ["provider", "name", "API family", "default model", "key"],
      ...providers.map(({ id, label, wire, defaultModel, auth }) => [
        code(id),
        label,
        code(wire),
        code(defaultModel),
        keyOf(auth),
      ]),
    ]),
  tools: () => declaredTools.map(toolSection).join("\n\n"),
  endpoints: () =>
    table([
      ["provider", "API family", "credentials", "base URL", "overridden by"],
      ...providers
        .filter(({ endpoint }) => endpoint.url.startsWith("http"))
        .map((provider) => [
          code(provider.id),
          code(provider.wire),
          credentialsOf(provider.auth),
          code(provider.endpoint.url),
          variablesOf(provider),
        ]),
    ]),
  failures: () =>
    table([["kind", "message", "retried"], ...failureSamples().map((sample) => [code(sample.kind), ...rowOf(sample)])]),
  "retry-policy": () =>
    table([
      ["setting", "default", "limit"],
      ...Object.entries(retryLimits).map(([name, what]) => [
        code(name),
        amount(name as keyof RetryPolicy, retryPolicy[name as keyof RetryPolicy]),
        what,
      ]),
    ]),
  settings: () =>
    table([
      ["setting", "description", "values", "default", "also set by"],
      ...settingPaths.map((path) => settingRow(path, settings[path])),
    ]),
  "setting-fields": () =>
    settingPaths
      .flatMap((path) => fieldRows(`${path}.NAME`, settings[path].shape))
      .map((rows) => table([["field", "description", "values", "default"], ...rows]))
      .join("\n\n"),
  repairs: () =>
    table([
      ["quirk", "API families", "change to the request"],
      ...(Object.keys(quirks) as Quirk[]).map((quirk) => [
        code(quirk),
        quirks[quirk].only?.map(code).join(", ") ?? "all",
        quirkMessages[quirk],
      ]),
    ]),
  "keys-input": () => keyTable("input"),
  "keys-list": () => keyTable("list"),
  "keys-question": () => keyTable("question"),
};

/** The actions of keys in one place, with their default keys. */
const keyTable = (place: KeyContext): string =>
  table([
    ["action", "keys", "what it does"],
    ...keyActions
      .filter(({ context }) => context === place)
      .map(({ name, keys, about }) => [code(name), keys.map(chordLabel).join(", "), about]),
  ]);

const code = (text: string): string => `\`${text}\``;

const table = (rows: readonly (readonly string[])[]): string => {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |`;
  const [head, ...body] = rows.map(line);
  return [head, line(widths.map((width) => "-".repeat(width))), ...body].join("\n");
};

const keyOf = (auth: Auth): string => {
  switch (auth.type) {
    case "aws":
      return "AWS credentials";
    case "google":
    case "code-assist":
      return "Google credentials";
    case "none":
      return "none";
    default:
      return auth.optional === true ? "none" : auth.env.map(code).join(" or ");
  }
};

const credentialsOf = (auth: Auth): string => {
  switch (auth.type) {
    case "aws":
      return "[AWS](#aws)";
    case "google":
      return "[Google](#google)";
    case "code-assist":
      return "[sign-in](#code-assist)";
    case "none":
      return "none";
    default: {
      const names = [...auth.env, ...(auth.tokens ?? [])].map(code).join(" or ");
      return auth.optional === true ? `none, or ${names}` : names;
    }
  }
};

const variablesOf = ({ id, endpoint }: Provider): string =>
  [`PARLEY_${id.toUpperCase().replaceAll("-", "_")}_BASE_URL`, ...(endpoint.env ?? []).map(({ name }) => name)]
    .map(code)
    .join(", ");

/** An example of a failure, with the classification of the response or network error that caused it. */
type FailureSample = {
  readonly kind: Failure["kind"];
  readonly failure: Failure;
  readonly verdict?: ErrorClassification;
};

const exampleProvider: ProviderIdentity = { provider: "example", label: "Example" };

const failureSamples = (): readonly FailureSample[] =>
  (Object.keys(failureCauses) as Failure["kind"][]).map((kind) => {
    const cause = failureCauses[kind];
    const verdict = "kind" in cause ? undefined : verdictOn(cause);
    const failure = verdict?.failure ?? (cause as Failure);
    if (failure.kind !== kind) throw new Error(`The example of ${kind} is one of ${failure.kind}.`);
    return { kind, failure, ...(verdict === undefined ? {} : { verdict }) };
  });

const verdictOn = (cause: ReportedError | Error): ErrorClassification => {
  if (!(cause instanceof Error)) return classifyError(exampleProvider, cause);
  const request = { method: "POST", url: "https://api.example.com/v1", headers: {} } as const;
  const meant = toAttemptError(cause, exampleProvider, request);
  if (!(meant instanceof AttemptError)) throw cause;
  return meant.classification;
};

/** The simplest cause of each kind: a failure raised locally, an error response, or a network error. */
const failureCauses: Readonly<Record<Failure["kind"], Failure | ReportedError | Error>> = {
  "no-key": { ...exampleProvider, kind: "no-key", how: "Set EXAMPLE_API_KEY." },
  misconfigured: { ...exampleProvider, kind: "misconfigured", how: "Set EXAMPLE_ENDPOINT to its address." },
  "bad-key": { status: 401, apiError: { message: "" } },
  "no-credit": { status: 402, apiError: { message: "" } },
  "quota-gone": { status: 429, apiError: { message: "", reasons: ["RequestsPerDay"] } },
  "rate-limited": { status: 429, apiError: { message: "", retryAfter: 7000 } },
  overloaded: { status: 529, apiError: { message: "" } },
  "context-too-long": { status: 413, apiError: { message: "" } },
  filtered: { status: 400, apiError: { message: "", code: "content_filter" } },
  refused: { status: 400, apiError: { message: "messages: at least one message is required" } },
  network: new NetError("connect", ""),
  "time-out": new ResponseTimeoutError("headers", retryPolicy.headers),
  "stream-cut": new NetError("broken", ""),
  "malformed-stream": new MalformedStreamError(""),
  cancelled: { ...exampleProvider, kind: "cancelled" },
};

const rowOf = ({ kind, failure, verdict }: FailureSample): readonly [said: string, again: string] => [
  explainFailure(failure),
  verdict?.isRetryable === true ? "yes" : (otherRetries[kind] ?? "no"),
];

const otherRetries: Partial<Record<Failure["kind"], string>> = {
  "bad-key": "once, with a renewed token",
  refused: "once for each [quirk](#quirks)",
};

const retryLimits: Readonly<Record<keyof RetryPolicy, string>> = {
  maxAttempts: "requests in a step, including the first",
  maxWait: "longest wait a server may ask for; a longer one is a failure",
  maxTotalWait: "all waits of one step together",
  headers: "time from the request to the response headers",
  firstByte: "time to the first byte of the response",
  idle: "time without data within the response (`limits.idleTime`)",
  whole: "the whole response (`limits.answerTime`); not retried",
};

const amount = (name: keyof RetryPolicy, value: number): string =>
  name === "maxAttempts" ? String(value) : `${value / 60_000} min`;

type DeclaredTool = (typeof declaredTools)[number];

/** Formats a tool as a section: description, access and parameters. */
const toolSection = ({ tool, parameters }: DeclaredTool): string => {
  const fields = Object.entries(
    (parameters["properties"] ?? {}) as Readonly<Record<string, { readonly [key: string]: unknown }>>,
  );
  const required = (parameters["required"] ?? []) as readonly string[];
  return [
    `### ${code(tool.name)}`,
    `${tool.description} Access: ${tool.access}.`,
    table([
      ["parameter", "type", "description", "aliases"],
      ...fields.map(([name, schema]) => [
        code(name),
        `${textOrEmpty(schema["type"]) || "any"}${required.includes(name) ? "" : ", optional"}`,
        textOrEmpty(schema["description"]).replaceAll("*", "\\*"),
        (tool.aliases?.[name] ?? []).map(code).join(", "),
      ]),
    ]),
  ].join("\n\n");
};

const textOrEmpty = (value: unknown): string => (typeof value === "string" ? value : "");

const settingRow = (path: string, setting: Setting): readonly string[] => [
  code(path),
  setting.description,
  cell(describeShape(setting.shape)),
  setting.default === undefined ? "" : code(JSON.stringify(setting.default)),
  [
    ...(setting.flag === undefined ? [] : [code(`--${setting.flag}`)]),
    ...(setting.variables ?? []).map(code),
    ...(setting.fallbacks ?? []).map(code),
    ...(setting.project === undefined
      ? []
      : [setting.project === "tighten" ? "projects, stricter only" : "projects, with consent"]),
  ].join(", "),
];

/** Returns the fields of settings whose values are objects by name, one table each. */
const fieldRows = (path: string, shape: Shape): readonly (readonly (readonly string[])[])[] => {
  const inside = shape.type === "record" ? shape.of : undefined;
  if (inside?.type !== "object") return [];
  const rows = (
    above: string,
    fields: Extract<Shape, { readonly type: "object" }>["fields"],
  ): readonly (readonly string[])[] =>
    Object.entries(fields).flatMap(([name, field]) => {
      const at = `${above}.${name}`;
      if (field.shape.type === "object") return rows(at, field.shape.fields);
      const given = field.default === undefined ? "" : code(JSON.stringify(field.default));
      return [[code(at), field.description, cell(describeShape(field.shape)), field.required ? "required" : given]];
    });
  return [rows(path, inside.fields)];
};

const cell = (text: string): string => text.replaceAll("|", "\\|");
