import { readServerConfigs } from "../../mcp/config/read-servers.ts";
import type { SignInPage } from "../../mcp/oauth/browser.ts";
import { deleteSignIn, type SignInTarget } from "../../mcp/oauth/store.ts";
import { signInWithBrowser } from "../../mcp/oauth/sign-in.ts";
import { findHomeFolders } from "../../world/home-folders.ts";
import type { World } from "../../world/world.ts";
import { confirm, canPrompt } from "../confirm.ts";
import { UserError } from "../user-error.ts";
import type { ConfiguredServer } from "./configured-servers.ts";
import { sanitizeLine } from "../text-table.ts";

/** Signs in to a server. Prints the URL; the user opens it. */
export const signInToServer = async (
  world: World,
  server: ConfiguredServer,
  skipsQuestion: boolean,
): Promise<number> => {
  const place = findSignInPlace(world, server);
  const show = ({ url, authorizationHost: authorizes, tokenHost: issuesTokens }: SignInPage): void => {
    process.stderr.write(`Open this URL in a browser on this machine and sign in at ${sanitizeLine(authorizes)}:\n`);
    process.stdout.write(`${sanitizeLine(url)}\n`);
    if (issuesTokens !== undefined) process.stderr.write(`The tokens are issued by ${sanitizeLine(issuesTokens)}.\n`);
    process.stderr.write("Waiting up to five minutes. Press Ctrl-C to cancel.\n");
  };
  const agree = async ({
    authorizationHost: authorizes,
    tokenHost: issuesTokens = "",
  }: SignInPage): Promise<boolean> => {
    process.stderr.write(
      `You sign in at ${sanitizeLine(authorizes)}, but the tokens are issued by ${sanitizeLine(issuesTokens)}, which gets your code.\n`,
    );
    return skipsQuestion || (canPrompt() && (await confirm("Continue?")));
  };
  const { signal } = new AbortController();
  await signInWithBrowser({
    world,
    home: (await findHomeFolders(world)).config,
    server: server.name,
    ...place,
    show,
    confirm: agree,
    signal,
  }).catch((error: unknown) => {
    throw new UserError(sanitizeLine(error instanceof Error ? error.message : String(error)), { code: 1 });
  });
  process.stderr.write(`Signed in to ${sanitizeLine(server.name)}. The tokens are readable only by you.\n`);
  return 0;
};

/** Deletes the tokens of a sign-in. */
export const signOutOfServer = async (world: World, server: ConfiguredServer): Promise<number> => {
  await deleteSignIn(world, (await findHomeFolders(world)).config, findSignInPlace(world, server));
  process.stderr.write(`Signed out of ${sanitizeLine(server.name)}. The tokens are deleted.\n`);
  return 0;
};

const findSignInPlace = (world: World, { name, server, from }: ConfiguredServer): SignInTarget => {
  const { servers, problems } = readServerConfigs({ [name]: server }, { from, env: world.env });
  const reach = servers[0]?.endpoint;
  if (reach === undefined) throw new UserError(problems.map(sanitizeLine).join(" "), { code: 1 });
  if (reach.type === "stdio") throw new UserError(`${sanitizeLine(name)} is a local command, so it has no sign-in.`);
  return reach;
};
