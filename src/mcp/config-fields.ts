import { isObject } from "../conversation/json.ts";
import type { Environment } from "../world/world.ts";
import type { SamplingPolicy } from "./asking.ts";
import { expand } from "./expand.ts";

/** What is said of one server, each value of the kind it must have and with its variables filled in. */
export type Fields = {
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

/** What is said of signing in at a server. */
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

type Problem = { readonly at: string; readonly says: string };
type Found = { readonly value: unknown; readonly problems: readonly Problem[] };
type Reader = (given: unknown, env: Environment) => Found;
type Readers = { readonly [field: string]: Reader };

/** Reads the fields of a server. Those nobody knows say nothing to us, and other programs may need them. */
export const readFields = (
  given: Readonly<Record<string, unknown>>,
  env: Environment,
): { readonly fields: Fields; readonly problems: readonly string[] } => {
  const { value, problems } = readEach(readers, given, env);
  return { fields: value as Fields, problems: problems.map(({ at, says }) => `${at} ${says}`) };
};

const readEach = (each: Readers, given: Readonly<Record<string, unknown>>, env: Environment): Found => {
  const found = Object.entries(each).flatMap(([name, reader]) =>
    given[name] === undefined ? [] : [{ name, ...reader(given[name], env) }],
  );
  return {
    value: Object.fromEntries(found.map(({ name, value }) => [name, value])),
    problems: found.flatMap(({ name, problems }) => problems.map(({ at, says }) => ({ at: `.${name}${at}`, says }))),
  };
};

const wrong = (says: string): Found => ({ value: undefined, problems: [{ at: "", says }] });

const text: Reader = (given, env) => {
  if (typeof given !== "string" || given === "" || given.includes("\0")) return wrong("must be a text.");
  const expanded = expand(given, env);
  return "missing" in expanded
    ? wrong(`names the variable ${expanded.missing}, which is not set.`)
    : { value: expanded.text, problems: [] };
};

const texts: Reader = (given, env) => {
  if (!Array.isArray(given)) return wrong("must be a list of texts.");
  const all = given.map((item) => (item === "" ? { value: "", problems: [] } : text(item, env)));
  return {
    value: all.map(({ value }) => value),
    problems: all.flatMap(({ problems }, index) => problems.map(({ says }) => ({ at: `[${index}]`, says }))),
  };
};

const textsByName: Reader = (given, env) => {
  if (!isObject(given)) return wrong("must be an object of texts.");
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
    problems: all.flatMap(({ name, problems }) => problems.map(({ says }) => ({ at: `.${name}`, says }))),
  };
};

const address: Reader = (given, env) => {
  const read = text(given, env);
  if (typeof read.value !== "string") return read;
  const url = URL.canParse(read.value) ? new URL(read.value) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) ? read : wrong("must be an http or https address.");
};

const flag: Reader = (given) =>
  typeof given === "boolean" ? { value: given, problems: [] } : wrong("must be true or false.");

const oauthReaders: { readonly [field in keyof OAuthFields]-?: Reader } = {
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
      : wrong("must be authorization_code or client_credentials."),
  privateKey: text,
  algorithm: text,
};

const oauth: Reader = (given, env) =>
  isObject(given) ? readEach(oauthReaders, given, env) : wrong("must be an object.");

const readers: { readonly [field in keyof Fields]-?: Reader } = {
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
      : wrong("must be stdio, http or sse."),
  timeout: (given) =>
    typeof given === "number" && given > 0 && given <= 86_400_000
      ? { value: given, problems: [] }
      : wrong("must be milliseconds, more than 0."),
  trust: flag,
  sampling: (given) =>
    given === "ask" || given === "allow" || given === "refuse"
      ? { value: given, problems: [] }
      : wrong("must be ask, allow or refuse."),
  includeTools: texts,
  excludeTools: texts,
};
