/*
 * The tables of the documents, made from the code they describe.
 */
import { providers } from "../src/providers/all.ts";
import type { Auth, Provider } from "../src/providers/define.ts";
import { type Quirk, quirks } from "../src/providers/quirks.ts";
import { patience, type Patience } from "../src/transport/budget.ts";
import { explain, type Failure } from "../src/transport/failure.ts";
import { classify, type Reported, type Verdict, type Who } from "../src/transport/classify.ts";
import { MalformedStream } from "../src/transport/frames.ts";
import { asAttemptError, AttemptError } from "../src/transport/refusal.ts";
import { lessonWords } from "../src/transport/repairs.ts";
import { Silence } from "../src/transport/watchdog.ts";
import { wordsOf, type Shape } from "../src/settings/shape.ts";
import { settingPaths, table as settings, type Setting } from "../src/settings/table.ts";
import { builtins } from "../src/tools/all.ts";
import { declarationOf } from "../src/tools/declare.ts";
import { NetError } from "../src/world/net.ts";

const declared = await Promise.all(
  builtins.map(async (tool) => ({ tool, parameters: (await declarationOf(tool)).parameters ?? {} })),
);

/** Every table, by the name documents ask for it with. */
export const tables: Readonly<Record<string, () => string>> = {
  providers: () =>
    table([
      ["provider", "who", "API family", "default model", "key"],
      ...providers.map(({ id, label, wire, defaultModel, auth }) => [
        code(id),
        label,
        code(wire),
        code(defaultModel),
        keyOf(auth),
      ]),
    ]),
  tools: () => declared.map(toolSection).join("\n\n"),
  endpoints: () =>
    table([
      ["provider", "API family", "credentials", "address", "moved by"],
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
    table([
      ["kind", "what is said", "tried again"],
      ...samples().map((sample) => [code(sample.kind), ...rowOf(sample)]),
    ]),
  patience: () =>
    table([
      ["setting", "usually", "what it limits"],
      ...Object.entries(limits).map(([name, what]) => [
        code(name),
        amount(name as keyof Patience, patience[name as keyof Patience]),
        what,
      ]),
    ]),
  settings: () =>
    table([
      ["setting", "what it is", "values", "default", "also set by"],
      ...settingPaths.map((path) => settingRow(path, settings[path])),
    ]),
  "setting-fields": () =>
    settingPaths
      .flatMap((path) => fieldRows(`${path}.NAME`, settings[path].shape))
      .map((rows) => table([["field", "what it is", "values", "default"], ...rows]))
      .join("\n\n"),
  repairs: () =>
    table([
      ["lesson", "API families", "what is then done"],
      ...(Object.keys(quirks) as Quirk[]).map((quirk) => [
        code(quirk),
        quirks[quirk].only?.map(code).join(", ") ?? "all",
        lessonWords[quirk],
      ]),
    ]),
};

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
      return "[a sign-in](#code-assist)";
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

/** A failure as it would be met, with the verdict on it where a server or the network had a part in it. */
type Sample = { readonly kind: Failure["kind"]; readonly failure: Failure; readonly verdict?: Verdict };

const who: Who = { provider: "example", label: "Example" };

const samples = (): readonly Sample[] =>
  (Object.keys(causes) as Failure["kind"][]).map((kind) => {
    const cause = causes[kind];
    const verdict = "kind" in cause ? undefined : verdictOn(cause);
    const failure = verdict?.failure ?? (cause as Failure);
    if (failure.kind !== kind) throw new Error(`The example of ${kind} is one of ${failure.kind}.`);
    return { kind, failure, ...(verdict === undefined ? {} : { verdict }) };
  });

const verdictOn = (cause: Reported | Error): Verdict => {
  if (!(cause instanceof Error)) return classify(who, cause);
  const request = { method: "POST", url: "https://api.example.com/v1", headers: {} } as const;
  const meant = asAttemptError(cause, who, request);
  if (!(meant instanceof AttemptError)) throw cause;
  return meant.verdict;
};

/** What brings each kind about, at its plainest: a failure of our own, an answer, or trouble on the line. */
const causes: Readonly<Record<Failure["kind"], Failure | Reported | Error>> = {
  "no-key": { ...who, kind: "no-key", how: "Set EXAMPLE_API_KEY." },
  misconfigured: { ...who, kind: "misconfigured", how: "Set EXAMPLE_ENDPOINT to its address." },
  "bad-key": { status: 401, problem: { message: "" } },
  "no-credit": { status: 402, problem: { message: "" } },
  "quota-gone": { status: 429, problem: { message: "", reasons: ["RequestsPerDay"] } },
  "rate-limited": { status: 429, problem: { message: "", retryAfter: 7000 } },
  overloaded: { status: 529, problem: { message: "" } },
  "context-too-long": { status: 413, problem: { message: "" } },
  filtered: { status: 400, problem: { message: "", code: "content_filter" } },
  refused: { status: 400, problem: { message: "messages: at least one message is required" } },
  network: new NetError("connect", ""),
  "time-out": new Silence("headers", patience.headers),
  "stream-cut": new NetError("broken", ""),
  "malformed-stream": new MalformedStream(""),
  cancelled: { ...who, kind: "cancelled" },
};

const rowOf = ({ kind, failure, verdict }: Sample): readonly [said: string, again: string] => [
  explain(failure),
  verdict?.retry === true ? "yes" : (others[kind] ?? "no"),
];

const others: Partial<Record<Failure["kind"], string>> = {
  "bad-key": "once, with a new token, where tokens are made",
  refused: "once for each [lesson](#lessons) in it",
};

const limits: Readonly<Record<keyof Patience, string>> = {
  attempts: "requests in a turn, the first included",
  longestWait: "the longest wait a server may ask for; a longer one is told, not waited for",
  allWaits: "all waiting of one turn together",
  headers: "silence after the request",
  firstByte: "silence before the first byte of the answer",
  idle: "silence within the answer (`limits.idleTime`)",
  whole: "one answer as a whole (`limits.answerTime`); it is not tried again",
};

const amount = (name: keyof Patience, value: number): string =>
  name === "attempts" ? String(value) : `${value / 60_000} min`;

type Declared = (typeof declared)[number];

/** A tool as a section: what it is for, what it touches, what it takes. */
const toolSection = ({ tool, parameters }: Declared): string => {
  const fields = Object.entries(
    (parameters["properties"] ?? {}) as Readonly<Record<string, { readonly [key: string]: unknown }>>,
  );
  const required = (parameters["required"] ?? []) as readonly string[];
  return [
    `### ${code(tool.name)}`,
    `${tool.about} It is asked about as: ${tool.access}.`,
    table([
      ["parameter", "type", "what it is", "also known as"],
      ...fields.map(([name, schema]) => [
        code(name),
        `${wordIn(schema["type"]) || "any"}${required.includes(name) ? "" : ", optional"}`,
        wordIn(schema["description"]).replaceAll("*", "\\*"),
        (tool.aliases?.[name] ?? []).map(code).join(", "),
      ]),
    ]),
  ].join("\n\n");
};

const wordIn = (value: unknown): string => (typeof value === "string" ? value : "");

const settingRow = (path: string, setting: Setting): readonly string[] => [
  code(path),
  setting.about,
  cell(wordsOf(setting.shape)),
  setting.default === undefined ? "" : code(JSON.stringify(setting.default)),
  [
    ...(setting.flag === undefined ? [] : [code(`--${setting.flag}`)]),
    ...(setting.variables ?? []).map(code),
    ...(setting.fallbacks ?? []).map(code),
    ...(setting.project === undefined
      ? []
      : [setting.project === "tighten" ? "projects, tighter" : "projects, asking"]),
  ].join(", "),
];

/** The fields of what a setting holds by name, one table each. */
const fieldRows = (path: string, shape: Shape): readonly (readonly (readonly string[])[])[] => {
  const inside = shape.type === "names" ? shape.of : undefined;
  if (inside?.type !== "fields") return [];
  const rows = (
    above: string,
    fields: Extract<Shape, { readonly type: "fields" }>["fields"],
  ): readonly (readonly string[])[] =>
    Object.entries(fields).flatMap(([name, field]) => {
      const at = `${above}.${name}`;
      if (field.shape.type === "fields") return rows(at, field.shape.fields);
      const given = field.default === undefined ? "" : code(JSON.stringify(field.default));
      return [[code(at), field.about, cell(wordsOf(field.shape)), field.required ? "must be there" : given]];
    });
  return [rows(path, inside.fields)];
};

const cell = (text: string): string => text.replaceAll("|", "\\|");
