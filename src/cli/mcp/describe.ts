import { formatEndpoint } from "../../mcp/config/read-servers.ts";
import { sanitizeForTerminal, displayCommand } from "../../policy/terminal/sanitize.ts";
import { redactSecrets } from "../../settings/schema/redact-secrets.ts";
import type { McpServerSettings } from "../../settings/schema/values.ts";
import { serverShape } from "../../settings/schema/mcp-server-shape.ts";
import { maxWidth } from "../text-table.ts";
import type { ConfiguredServer } from "./configured-servers.ts";

/** Sanitizes a server name for display on one line. */
export const sanitizeName = (name: string): string => sanitizeForTerminal(name, "line");

/** Formats the full command line or URL, in as many lines as needed. */
export const formatReach = ({ server, from }: ConfiguredServer, redact: (text: string) => string): readonly string[] =>
  splitIntoLines(from === "person" ? redact(describeReach(server)) : describeReach(server)).filter(
    (line) => line !== indent,
  );

/**
 * Formats the full configuration of a project's server, for consent. Nothing is redacted: a value that looks like a
 * secret may be a command.
 */
export const formatConfiguration = ({ server }: ConfiguredServer): readonly string[] => {
  const reach = describeReach(server);
  const { command: _, args: _args, url: _url, httpUrl: _httpUrl, env = {}, headers = {}, oauth, ...rest } = server;
  const { oauth: signIn = {} } = redactSecrets(serverShape, oauth === undefined ? {} : { oauth }) as {
    readonly oauth?: object;
  };
  return [
    ...splitIntoLines(reach),
    ...(reach.length > countedLength ? [`${indent}(${reach.length} characters, all shown above)`] : []),
    ...Object.entries(env).flatMap(([name, value]) => splitIntoLines(`env ${name}=${value}`)),
    ...Object.entries(headers).flatMap(([name, value]) => splitIntoLines(`header ${name}: ${value}`)),
    ...Object.entries(rest).flatMap(([name, value]) => splitIntoLines(`${name}: ${JSON.stringify(value)}`)),
    ...Object.entries(signIn).flatMap(([name, value]) => splitIntoLines(`oauth.${name}: ${JSON.stringify(value)}`)),
  ];
};

/** Describes the origin of a server and whether it is started. */
export const describeConsentState = (server: ConfiguredServer): string => {
  if (server.from === "person") return "yours";
  const { file, consentState } = server;
  const name = sanitizeName(server.name);
  const origin = `of this project (${file})`;
  switch (consentState.state) {
    case "allowed":
      return `${origin}, allowed`;
    case "pending":
      return `${origin}, not allowed yet; allow it with parley mcp allow ${name}`;
    case "denied":
      return `${origin}, denied; allow it with parley mcp allow ${name}`;
    case "untrusted":
      return `${origin}, which is not trusted; trust it with parley trust`;
    case "shadowed":
      return `${origin}, not used: another server of this name takes precedence`;
    case "invalid":
      return `${origin}, invalid: ${sanitizeForTerminal(consentState.reason, "line")}`;
  }
};

/** Longer commands are shown with their length, so that a part is not mistaken for the whole. */
const countedLength = 1000;

const describeReach = ({ command, args = [], url, httpUrl }: McpServerSettings): string =>
  command === undefined
    ? displayCommand(httpUrl ?? url ?? "")
    : formatEndpoint({ type: "stdio", command, args, env: {} });

const indent = "  ";

/** Splits text into lines of a fixed width by character, so that spaces at line ends are kept. */
const splitIntoLines = (text: string): readonly string[] =>
  displayCommand(text)
    .split("\n")
    .flatMap((line) => splitByWidth(Array.from(line)))
    .map((line) => indent + line);

const splitByWidth = (letters: readonly string[]): readonly string[] =>
  Array.from({ length: Math.max(1, Math.ceil(letters.length / lineWidth)) }, (_, at) =>
    letters.slice(at * lineWidth, (at + 1) * lineWidth).join(""),
  );

const lineWidth = maxWidth - indent.length;
