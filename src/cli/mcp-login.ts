import { forgetSignIn, readServers, signInAt } from "../mcp/index.ts";
import { homeFolder, type Server } from "../settings/index.ts";
import type { World } from "../world/index.ts";
import { Failure } from "./failure.ts";
import { oneLine } from "./table.ts";

/** Signs a person in at a server. Opening the address is left to them. */
export const signIn = async (world: World, name: string, server: Server): Promise<number> => {
  const url = addressOf(world, name, server);
  const show = ({
    url: page,
    authorizes,
    issuesTokens,
  }: Parameters<Parameters<typeof signInAt>[0]["show"]>[0]): void => {
    process.stderr.write(`Open this address in a browser on this machine, and sign in at ${oneLine(authorizes)}:\n`);
    process.stdout.write(`${oneLine(page)}\n`);
    if (issuesTokens !== undefined) process.stderr.write(`The tokens then come from ${oneLine(issuesTokens)}.\n`);
    process.stderr.write("Waiting for at most five minutes; Ctrl-C gives up.\n");
  };
  const signal = new AbortController().signal;
  await signInAt({ world, home: homeFolder(world), server: name, url, show, signal }).catch((error: unknown) => {
    throw new Failure(oneLine(error instanceof Error ? error.message : String(error)), { code: 1 });
  });
  process.stderr.write(`Signed in at ${oneLine(name)}. The tokens are for your eyes only.\n`);
  return 0;
};

/** Forgets a sign-in. */
export const signOut = async (world: World, name: string, server: Server): Promise<number> => {
  await forgetSignIn(world, homeFolder(world), addressOf(world, name, server));
  process.stderr.write(`No tokens for ${oneLine(name)} are left here.\n`);
  return 0;
};

const addressOf = (world: World, name: string, server: Server): string => {
  const { servers, problems } = readServers({ [name]: server }, { from: "person", env: world.env });
  const reach = servers[0]?.reach;
  if (reach === undefined) throw new Failure(problems.map(oneLine).join(" "), { code: 1 });
  if (reach.type === "stdio")
    throw new Failure(`${oneLine(name)} is a program on this machine: there is nobody to sign in at.`);
  return reach.url;
};
