import { createHash } from "node:crypto";
import { isObject, type JsonObject } from "../../../conversation/json.ts";

/** Where a remote agent is, and how Parley authenticates there: the fields of an agent file with `kind: remote`. */
export type RemoteAgentSource = {
  /** The address of its agent card, or of the agent itself if the file holds the card. */
  readonly url: string;
  /** The card, if the file holds it. */
  readonly card?: JsonObject;
  readonly auth?: RemoteAgentAuth;
  /** Whether the file is the person's own, not one of a project or plugin. */
  readonly isOwn: boolean;
  /** The digest of the file and its origin, which consent is bound to. */
  readonly digest: string;
};

/** A header with a credential. Its parts are joined with a colon, and encoded for Basic authentication. */
type RemoteAgentAuth = {
  readonly header: string;
  readonly scheme?: string;
  readonly secrets: readonly SecretSource[];
};

/** A variable of the environment, or text in a file of the person's own. */
type SecretSource = { readonly variable: string } | { readonly text: string };

/** Why fields do not define a remote agent. */
export type InvalidRemoteAgent = { readonly problem: string };

/** Reads the fields of a remote agent. */
export const readRemoteAgent = (
  fields: { readonly [field: string]: unknown },
  { text, isOwn }: { readonly text: string; readonly isOwn: boolean },
): RemoteAgentSource | InvalidRemoteAgent => {
  const card = readCard(fields["agent_card_json"]);
  if (card !== undefined && "problem" in card) return card;
  const address = card === undefined ? fields["agent_card_url"] : addressIn(card.card);
  const url = typeof address === "string" && URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    return {
      problem:
        card === undefined
          ? "agent_card_url must be an http or https address."
          : "agent_card_json names no http or https address.",
    };
  if (url.username !== "" || url.password !== "")
    return { problem: "the address must not contain a password. Use auth." };
  const auth = fields["auth"] === undefined ? undefined : readAuth(fields["auth"], isOwn);
  if (auth !== undefined && "problem" in auth) return auth;
  if (card === undefined && url.pathname === "/") url.pathname = "/.well-known/agent-card.json";
  url.hash = "";
  return {
    url: url.href,
    ...card,
    ...(auth === undefined ? {} : { auth }),
    isOwn,
    digest: createHash("sha256")
      .update(JSON.stringify([isOwn, url.href, text]))
      .digest("hex"),
  };
};

const readCard = (value: unknown): { readonly card: JsonObject } | InvalidRemoteAgent | undefined => {
  if (value === undefined) return undefined;
  try {
    const card: unknown = typeof value === "string" ? JSON.parse(value) : value;
    if (isObject(card)) return { card: card as JsonObject };
  } catch {
    // Falls through to the message.
  }
  return { problem: "agent_card_json is not a JSON object." };
};

/** The address of a card's first interface. */
const addressIn = (card: JsonObject): unknown => {
  const interfaces: unknown = card["supportedInterfaces"];
  const first: unknown = Array.isArray(interfaces) ? interfaces[0] : undefined;
  return isObject(first) ? first["url"] : card["url"];
};

const readAuth = (value: unknown, isOwn: boolean): RemoteAgentAuth | InvalidRemoteAgent => {
  if (!isObject(value)) return { problem: "auth must have a type: apiKey or http." };
  const { type, scheme } = value;
  if (type === "apiKey") {
    const { name = "X-API-Key", key } = value;
    if (typeof name !== "string" || !/^[A-Za-z][\w-]{0,63}$/.test(name) || reservedHeaders.has(name.toLowerCase()))
      return { problem: "auth.name is not the name of a header for a key." };
    return withSecrets({ header: name.toLowerCase() }, [["key", key]], isOwn);
  }
  if (type !== "http")
    return { problem: `auth.type must be apiKey or http; ${JSON.stringify(type)?.slice(0, 40)} is not supported.` };
  if (typeof scheme !== "string" || !/^[A-Za-z][\w-]{0,31}$/.test(scheme))
    return { problem: "auth.scheme is missing, e.g. Bearer." };
  const header = { header: "authorization", scheme };
  switch (scheme.toLowerCase()) {
    case "bearer":
      return withSecrets(header, [["token", value["token"] ?? value["value"]]], isOwn);
    case "basic":
      return withSecrets(
        header,
        [
          ["username", value["username"]],
          ["password", value["password"]],
        ],
        isOwn,
      );
    default:
      return withSecrets(header, [["value", value["value"]]], isOwn);
  }
};

/** Headers that are not for keys. */
const reservedHeaders: ReadonlySet<string> = new Set(
  "host connection content-length content-type content-encoding transfer-encoding accept cookie a2a-version te upgrade".split(
    " ",
  ),
);

const withSecrets = (
  header: Omit<RemoteAgentAuth, "secrets">,
  values: readonly (readonly [field: string, value: unknown])[],
  isOwn: boolean,
): RemoteAgentAuth | InvalidRemoteAgent => {
  const secrets: SecretSource[] = [];
  for (const [field, value] of values) {
    const secret = readSecret(value);
    if (secret === undefined) return { problem: `auth.${field} must be an environment variable, e.g. $MY_TOKEN.` };
    if ("text" in secret && !isOwn)
      return {
        problem: `auth.${field}: only your own agent files can hold a credential. Name an environment variable, e.g. $MY_TOKEN.`,
      };
    secrets.push(secret);
  }
  return { ...header, secrets };
};

/** `$NAME` and `${NAME}` are variables, `$$` is a dollar. Commands (`!...`) are not run. */
const readSecret = (value: unknown): SecretSource | undefined => {
  if (typeof value !== "string" || value === "" || /^!(?!!)/.test(value)) return undefined;
  const [, braced, bare] = /^\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))$/.exec(value) ?? [];
  const variable = braced ?? bare;
  if (variable !== undefined) return { variable };
  return value.startsWith("$") && !value.startsWith("$$")
    ? undefined
    : { text: value.replace(/^(\$\$|!!)/, (both) => both.slice(1)) };
};

/** Fills in the credential from the environment. Throws an error that names a variable that is not set. */
export const authHeaders = (
  { auth }: RemoteAgentSource,
  env: { readonly [name: string]: string | undefined },
): { readonly [header: string]: string } => {
  if (auth === undefined) return {};
  const values = auth.secrets.map((secret) => {
    if ("text" in secret) return secret.text;
    const value = env[secret.variable];
    if (value === undefined || value === "") throw new Error(`The environment variable ${secret.variable} is not set.`);
    return value;
  });
  const joined = values.join(":");
  if (/[^\t\x20-\x7e]/.test(joined))
    throw new Error(`The credential for ${auth.header} has characters no header can hold.`);
  const value = auth.scheme?.toLowerCase() === "basic" ? Buffer.from(joined).toString("base64") : joined;
  return { [auth.header]: auth.scheme === undefined ? value : `${auth.scheme} ${value}` };
};
