import { isObject } from "../../conversation/json.ts";
import type { Environment } from "../../world/world.ts";
import type { SamplingPolicy } from "../requests/handlers.ts";
import { expandVariables } from "./expand-variables.ts";

/** The fields of one server's configuration, validated and with variables expanded. */
export type ServerFields = {
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: { readonly [name: string]: string };
  readonly cwd?: string;
  readonly url?: string;
  readonly httpUrl?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly oauth?: OAuthFields;
  readonly type?: string;
  readonly timeout?: number;
  readonly trust?: boolean;
  readonly sampling?: SamplingPolicy;
  readonly includeTools?: readonly string[];
  readonly excludeTools?: readonly string[];
};

/** The OAuth fields of a server's configuration. */
export type OAuthFields = {
  readonly enabled?: boolean;
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly scopes?: readonly string[];
  readonly redirectUri?: string;
  readonly issuer?: string;
  readonly authorizationUrl?: string;
  readonly tokenUrl?: string;
  readonly grantType?: "authorization_code" | "client_credentials";
  readonly privateKey?: string;
  readonly algorithm?: string;
};

type FieldProblem = { readonly at: string; readonly message: string };
type FieldResult = { readonly value: unknown; readonly problems: readonly FieldProblem[] };
type FieldReader = (given: unknown, env: Environment) => FieldResult;
type FieldReaders = { readonly [field: string]: FieldReader };

/** Reads the fields of a server. Unknown ones are ignored: other programs may need them. */
export const readFields = (
  given: Readonly<Record<string, unknown>>,
  env: Environment,
): { readonly fields: ServerFields; readonly problems: readonly string[] } => {
  const { value, problems } = readEach(readers, given, env);
  return { fields: value as ServerFields, problems: problems.map(({ at, message }) => `${at} ${message}`) };
};

const readEach = (each: FieldReaders, given: Readonly<Record<string, unknown>>, env: Environment): FieldResult => {
  const found = Object.entries(each).flatMap(([name, reader]) =>
    given[name] === undefined ? [] : [{ name, ...reader(given[name], env) }],
  );
  return {
    value: Object.fromEntries(found.map(({ name, value }) => [name, value])),
    problems: found.flatMap(({ name, problems }) =>
      problems.map(({ at, message }) => ({ at: `.${name}${at}`, message })),
    ),
  };
};

const invalidField = (message: string): FieldResult => ({ value: undefined, problems: [{ at: "", message }] });

const text: FieldReader = (given, env) => {
  if (typeof given !== "string" || given === "" || given.includes("\0")) return invalidField("must be a string.");
  const expanded = expandVariables(given, env);
  return "missing" in expanded
    ? invalidField(`names the variable ${expanded.missing}, which is not set.`)
    : { value: expanded.text, problems: [] };
};

const texts: FieldReader = (given, env) => {
  if (!Array.isArray(given)) return invalidField("must be a list of strings.");
  const all = given.map((item) => (item === "" ? { value: "", problems: [] } : text(item, env)));
  return {
    value: all.map(({ value }) => value),
    problems: all.flatMap(({ problems }, index) => problems.map(({ message }) => ({ at: `[${index}]`, message }))),
  };
};

const textsByName: FieldReader = (given, env) => {
  if (!isObject(given)) return invalidField("must be an object of strings.");
  const all = Object.entries(given).map(([name, item]) => ({
    name,
    ...(typeof item === "number" || typeof item === "boolean"
      ? { value: String(item), problems: [] }
      : item === ""
        ? { value: "", problems: [] }
        : text(item, env)),
  }));
  return {
    value: Object.fromEntries(all.map(({ name, value }) => [name, value])),
    problems: all.flatMap(({ name, problems }) => problems.map(({ message }) => ({ at: `.${name}`, message }))),
  };
};

const address: FieldReader = (given, env) => {
  const read = text(given, env);
  if (typeof read.value !== "string") return read;
  const url = URL.canParse(read.value) ? new URL(read.value) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) ? read : invalidField("must be an http or https URL.");
};

const flag: FieldReader = (given) =>
  typeof given === "boolean" ? { value: given, problems: [] } : invalidField("must be true or false.");

const oauthReaders: { readonly [field in keyof OAuthFields]-?: FieldReader } = {
  enabled: flag,
  clientId: text,
  clientSecret: text,
  scopes: texts,
  redirectUri: address,
  issuer: address,
  authorizationUrl: address,
  tokenUrl: address,
  grantType: (given) =>
    given === "authorization_code" || given === "client_credentials"
      ? { value: given, problems: [] }
      : invalidField("must be authorization_code or client_credentials."),
  privateKey: text,
  algorithm: text,
};

const oauth: FieldReader = (given, env) =>
  isObject(given) ? readEach(oauthReaders, given, env) : invalidField("must be an object.");

const readers: { readonly [field in keyof ServerFields]-?: FieldReader } = {
  command: text,
  args: texts,
  env: textsByName,
  cwd: text,
  url: address,
  httpUrl: address,
  headers: textsByName,
  oauth,
  type: (given) =>
    typeof given === "string" && /^(stdio|sse|http|streamable-?http)$/i.test(given)
      ? { value: given.toLowerCase().replace(/^streamable-?/, ""), problems: [] }
      : invalidField("must be stdio, http or sse."),
  timeout: (given) =>
    typeof given === "number" && given > 0 && given <= 86_400_000
      ? { value: given, problems: [] }
      : invalidField("must be a number of milliseconds greater than 0."),
  trust: flag,
  sampling: (given) =>
    given === "ask" || given === "allow" || given === "refuse"
      ? { value: given, problems: [] }
      : invalidField("must be ask, allow or refuse."),
  includeTools: texts,
  excludeTools: texts,
};
