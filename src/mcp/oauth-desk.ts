import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { ServerFailure } from "./failure.ts";

/** Waits on a port of this machine for the browser to bring a code. */
export type Desk = {
  readonly redirect: string;
  readonly answer: () => Promise<{ readonly code: string; readonly issuer?: string }>;
  readonly close: () => void;
};

type Visit = { readonly code: string; readonly issuer?: string } | Error | undefined;

/** Opens a desk. Only a visit with this `state` is heard; all others are turned away. */
export const openDesk = async (state: string): Promise<Desk> => {
  const { createServer } = await import("node:http");
  let settle: ((visit: Exclude<Visit, undefined>) => void) | undefined;
  const visited = new Promise<Exclude<Visit, undefined>>((resolve) => (settle = resolve));
  const server = createServer((request, response) => {
    const visit = readVisit(request, state);
    // Only once the page is out may the desk close.
    response.once("close", () => visit !== undefined && settle?.(visit));
    greet(response, visit);
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
  return {
    redirect: `http://127.0.0.1:${port}/callback`,
    answer: async () => {
      const visit = await visited;
      if (visit instanceof Error) throw visit;
      return visit;
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

const readVisit = ({ method, url = "/" }: IncomingMessage, state: string): Visit => {
  const { pathname, searchParams } = new URL(url, "http://127.0.0.1");
  if (method !== "GET" || pathname !== "/callback" || !isSame(searchParams.get("state") ?? "", state)) return undefined;
  const code = searchParams.get("code");
  const issuer = searchParams.get("iss");
  if (code !== null && code !== "") return { code, ...(issuer === null ? {} : { issuer }) };
  const why = /^[a-z_]{1,40}$/.exec(searchParams.get("error") ?? "")?.[0] ?? "no reason";
  return new ServerFailure("sign-in", `The sign-in was refused (${why}).`);
};

const isSame = (given: string, expected: string): boolean => {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
};

const greet = (response: ServerResponse, visit: Visit): void => {
  const isGood = visit !== undefined && !(visit instanceof Error);
  const words =
    visit === undefined
      ? "There is nothing here."
      : `${isGood ? "You are signed in." : "The sign-in was refused."} You can close this window.`;
  response.writeHead(isGood ? 200 : 400, {
    "content-type": "text/plain; charset=utf-8",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    connection: "close",
  });
  response.end(`${words}\n`);
};
