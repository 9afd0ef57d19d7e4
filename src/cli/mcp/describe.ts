import { formatEndpoint } from "../../mcp/config/read-servers.ts";
import { sanitizeForTerminal, displayCommand } from "../../policy/terminal/sanitize.ts";
import { redactSecrets } from "../../settings/schema/redact-secrets.ts";
import type { McpServerSettings } from "../../settings/schema/values.ts";
import { serverShape } from "../../settings/schema/mcp-server-shape.ts";
import { maxWidth } from "../text-table.ts";
import type { ConfiguredServer } from "./configured-servers.ts";

/** A name that somebody else may have chosen, fit for a line. */
export const sanitizeName = (name: string): string => sanitizeForTerminal(name, "line");

/** The command line or the address, all of it, in as many lines as it takes. */
export const formatReach = ({ server, from }: ConfiguredServer, redact: (text: string) => string): readonly string[] =>
  splitIntoLines(from === "person" ? redact(describeReach(server)) : describeReach(server)).filter(
    (line) => line !== indent,
  );

/**
 * All that a project's server would be started or reached with, as it is written, for somebody who has to agree to it. A
 * value that looks like a secret may just as well be a command, so none of these is left out.
 */
export const formatConfiguration = ({ server }: ConfiguredServer): readonly string[] => {
  const reach = describeReach(server);
  const { command: _, args: _args, url: _url, httpUrl: _httpUrl, env = {}, headers = {}, oauth, ...rest } = server;
  const { oauth: signIn = {} } = redactSecrets(serverShape, oauth === undefined ? {} : { oauth }) as {
    readonly oauth?: object;
  };
  return [
    ...splitIntoLines(reach),
    ...(reach.length > countedLength ? [`${indent}(${reach.length} characters, all of them above)`] : []),
    ...Object.entries(env).flatMap(([name, value]) => splitIntoLines(`env ${name}=${value}`)),
    ...Object.entries(headers).flatMap(([name, value]) => splitIntoLines(`header ${name}: ${value}`)),
    ...Object.entries(rest).flatMap(([name, value]) => splitIntoLines(`${name}: ${JSON.stringify(value)}`)),
    ...Object.entries(signIn).flatMap(([name, value]) => splitIntoLines(`oauth.${name}: ${JSON.stringify(value)}`)),
  ];
};

/** Whose a server is, and whether it is started. */
export const describeConsentState = (known: ConfiguredServer): string => {
  if (known.from === "person") return "yours";
  const { file, standing } = known;
  const name = sanitizeName(known.name);
  const of = `of this project (${file})`;
  switch (standing.state) {
    case "agreed":
      return `${of}, agreed to`;
    case "asks":
      return `${of}, not agreed to; parley mcp allow ${name} shows it and asks`;
    case "denied":
      return `${of}, denied; parley mcp allow ${name} takes that back`;
    case "untrusted":
      return `${of}, which is not trusted; parley trust trusts it`;
    case "covered":
      return `${of}, not used: another server of this name counts more`;
    case "unfit":
      return `${of}, not usable: ${sanitizeForTerminal(standing.reason, "line")}`;
  }
};

/** What is longer than this is counted, so that nobody takes a part for the whole. */
const countedLength = 1000;

const describeReach = ({ command, args = [], url, httpUrl }: McpServerSettings): string =>
  command === undefined
    ? displayCommand(httpUrl ?? url ?? "")
    : formatEndpoint({ type: "stdio", command, args, env: {} });

const indent = "  ";

/** Cut into pieces that fit, letter by letter, so that no gap is lost where a line ends. */
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
