import { shownReach } from "../mcp/config.ts";
import { plain, shownCommand } from "../policy/plain.ts";
import { withoutSecrets } from "../settings/hide.ts";
import type { Server } from "../settings/values.ts";
import { serverShape } from "../settings/server-shape.ts";
import { widest } from "./table.ts";
import type { KnownServer } from "./mcp-known.ts";

/** A name that somebody else may have chosen, fit for a line. */
export const shownName = (name: string): string => plain(name, "line");

/** The command line or the address, all of it, in as many lines as it takes. */
export const reachLines = ({ server, from }: KnownServer, redact: (text: string) => string): readonly string[] =>
  linesOf(from === "person" ? redact(reachOf(server)) : reachOf(server)).filter((line) => line !== indent);

/**
 * All that a project's server would be started or reached with, as it is written, for somebody who has to agree to it. A
 * value that looks like a secret may just as well be a command, so none of these is left out.
 */
export const serverLines = ({ server }: KnownServer): readonly string[] => {
  const reach = reachOf(server);
  const { command: _, args: _args, url: _url, httpUrl: _httpUrl, env = {}, headers = {}, oauth, ...rest } = server;
  const { oauth: signIn = {} } = withoutSecrets(serverShape, oauth === undefined ? {} : { oauth }) as {
    readonly oauth?: object;
  };
  return [
    ...linesOf(reach),
    ...(reach.length > long ? [`${indent}(${reach.length} characters, all of them above)`] : []),
    ...Object.entries(env).flatMap(([name, value]) => linesOf(`env ${name}=${value}`)),
    ...Object.entries(headers).flatMap(([name, value]) => linesOf(`header ${name}: ${value}`)),
    ...Object.entries(rest).flatMap(([name, value]) => linesOf(`${name}: ${JSON.stringify(value)}`)),
    ...Object.entries(signIn).flatMap(([name, value]) => linesOf(`oauth.${name}: ${JSON.stringify(value)}`)),
  ];
};

/** Whose a server is, and whether it is started. */
export const standingWords = (known: KnownServer): string => {
  if (known.from === "person") return "yours";
  const { file, standing } = known;
  const name = shownName(known.name);
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
      return `${of}, not usable: ${plain(standing.why, "line")}`;
  }
};

/** What is longer than this is counted, so that nobody takes a part for the whole. */
const long = 1000;

const reachOf = ({ command, args = [], url, httpUrl }: Server): string =>
  command === undefined ? shownCommand(httpUrl ?? url ?? "") : shownReach({ type: "stdio", command, args, env: {} });

const indent = "  ";

/** Cut into pieces that fit, letter by letter, so that no gap is lost where a line ends. */
const linesOf = (text: string): readonly string[] =>
  shownCommand(text)
    .split("\n")
    .flatMap((line) => piecesOf(Array.from(line)))
    .map((line) => indent + line);

const piecesOf = (letters: readonly string[]): readonly string[] =>
  Array.from({ length: Math.max(1, Math.ceil(letters.length / room)) }, (_, at) =>
    letters.slice(at * room, (at + 1) * room).join(""),
  );

const room = widest - indent.length;
