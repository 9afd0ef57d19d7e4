import { readServers } from "../mcp/config.ts";
import type { SignInPage } from "../mcp/oauth-person.ts";
import { forgetSignIn, type SignInPlace } from "../mcp/oauth-store.ts";
import { signInAt } from "../mcp/oauth.ts";
import { homeFolder } from "../settings/home.ts";
import type { World } from "../world/world.ts";
import { agreed, canAsk } from "./agreeing.ts";
import { Failure } from "./failure.ts";
import type { KnownServer } from "./mcp-known.ts";
import { oneLine } from "./table.ts";

/** Signs a person in at a server. Opening the address is left to them. */
export const signIn = async (world: World, known: KnownServer, isSure: boolean): Promise<number> => {
  const place = placeOf(world, known);
  const show = ({ url, authorizes, issuesTokens }: SignInPage): void => {
    process.stderr.write(`Open this address in a browser on this machine, and sign in at ${oneLine(authorizes)}:\n`);
    process.stdout.write(`${oneLine(url)}\n`);
    if (issuesTokens !== undefined) process.stderr.write(`The tokens then come from ${oneLine(issuesTokens)}.\n`);
    process.stderr.write("Waiting for at most five minutes; Ctrl-C gives up.\n");
  };
  const agree = async ({ authorizes, issuesTokens = "" }: SignInPage): Promise<boolean> => {
    process.stderr.write(
      `You would sign in at ${oneLine(authorizes)}, but the tokens come from ${oneLine(issuesTokens)}, which gets your code.\n`,
    );
    return isSure || (canAsk() && (await agreed("Is that right?")));
  };
  const { signal } = new AbortController();
  await signInAt({ world, home: homeFolder(world), server: known.name, ...place, show, agree, signal }).catch(
    (error: unknown) => {
      throw new Failure(oneLine(error instanceof Error ? error.message : String(error)), { code: 1 });
    },
  );
  process.stderr.write(`Signed in at ${oneLine(known.name)}. The tokens are for your eyes only.\n`);
  return 0;
};

/** Forgets a sign-in. */
export const signOut = async (world: World, known: KnownServer): Promise<number> => {
  await forgetSignIn(world, homeFolder(world), placeOf(world, known));
  process.stderr.write(`No tokens for ${oneLine(known.name)} are left here.\n`);
  return 0;
};

const placeOf = (world: World, { name, server, from }: KnownServer): SignInPlace => {
  const { servers, problems } = readServers({ [name]: server }, { from, env: world.env });
  const reach = servers[0]?.reach;
  if (reach === undefined) throw new Failure(problems.map(oneLine).join(" "), { code: 1 });
  if (reach.type === "stdio")
    throw new Failure(`${oneLine(name)} is a program on this machine: there is nobody to sign in at.`);
  return reach;
};
