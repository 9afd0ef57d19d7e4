import { readServerConfigs } from "../../mcp/config/read-servers.ts";
import type { SignInPage } from "../../mcp/oauth/browser.ts";
import { deleteSignIn, type SignInTarget } from "../../mcp/oauth/store.ts";
import { signInWithBrowser } from "../../mcp/oauth/sign-in.ts";
import { resolveHomeFolder } from "../../settings/home.ts";
import type { World } from "../../world/world.ts";
import { confirm, canPrompt } from "../confirm.ts";
import { UserError } from "../user-error.ts";
import type { ConfiguredServer } from "./configured-servers.ts";
import { sanitizeLine } from "../text-table.ts";

/** Signs a person in at a server. Opening the address is left to them. */
export const signInToServer = async (world: World, known: ConfiguredServer, isSure: boolean): Promise<number> => {
  const place = findSignInPlace(world, known);
  const show = ({ url, authorizationHost: authorizes, tokenHost: issuesTokens }: SignInPage): void => {
    process.stderr.write(
      `Open this address in a browser on this machine, and sign in at ${sanitizeLine(authorizes)}:\n`,
    );
    process.stdout.write(`${sanitizeLine(url)}\n`);
    if (issuesTokens !== undefined) process.stderr.write(`The tokens then come from ${sanitizeLine(issuesTokens)}.\n`);
    process.stderr.write("Waiting for at most five minutes; Ctrl-C gives up.\n");
  };
  const agree = async ({
    authorizationHost: authorizes,
    tokenHost: issuesTokens = "",
  }: SignInPage): Promise<boolean> => {
    process.stderr.write(
      `You would sign in at ${sanitizeLine(authorizes)}, but the tokens come from ${sanitizeLine(issuesTokens)}, which gets your code.\n`,
    );
    return isSure || (canPrompt() && (await confirm("Is that right?")));
  };
  const { signal } = new AbortController();
  await signInWithBrowser({
    world,
    home: resolveHomeFolder(world),
    server: known.name,
    ...place,
    show,
    confirm: agree,
    signal,
  }).catch((error: unknown) => {
    throw new UserError(sanitizeLine(error instanceof Error ? error.message : String(error)), { code: 1 });
  });
  process.stderr.write(`Signed in at ${sanitizeLine(known.name)}. The tokens are for your eyes only.\n`);
  return 0;
};

/** Forgets a sign-in. */
export const signOutOfServer = async (world: World, known: ConfiguredServer): Promise<number> => {
  await deleteSignIn(world, resolveHomeFolder(world), findSignInPlace(world, known));
  process.stderr.write(`No tokens for ${sanitizeLine(known.name)} are left here.\n`);
  return 0;
};

const findSignInPlace = (world: World, { name, server, from }: ConfiguredServer): SignInTarget => {
  const { servers, problems } = readServerConfigs({ [name]: server }, { from, env: world.env });
  const reach = servers[0]?.endpoint;
  if (reach === undefined) throw new UserError(problems.map(sanitizeLine).join(" "), { code: 1 });
  if (reach.type === "stdio")
    throw new UserError(`${sanitizeLine(name)} is a program on this machine: there is nobody to sign in at.`);
  return reach;
};
