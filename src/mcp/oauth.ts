import type { OAuthClientProvider } from "@modelcontextprotocol/client";
import { randomBytes } from "node:crypto";
import { openDesk, type Desk } from "../world/desk.ts";
import type { World } from "../world/world.ts";
import { ServerFailure } from "./failure.ts";
import { guardedFetch, type Fetch, type GuardOptions } from "./http-guard.ts";
import { personAuth, type SignInPage } from "./oauth-person.ts";
import { readSignIn, signInFile, writeSignIn, type SignInPlace } from "./oauth-store.ts";

export type OAuthOptions = SignInPlace & {
  readonly world: World;
  /** The folder of Parley's own things. */
  readonly home: string;
  readonly server: string;
  readonly lookup?: GuardOptions["lookup"];
};

/**
 * What to show a server: the tokens of an earlier sign-in, renewed when they run out, or a machine's own proof; undefined
 * where there is neither. Asks nobody.
 */
export const storedAuth = async (options: OAuthOptions): Promise<OAuthClientProvider | undefined> => {
  const { world, home, server, signIn } = options;
  if (signIn?.type === "never") return undefined;
  if (signIn?.type === "machine") return (await import("./oauth-machine.ts")).machineAuth(server, options.url, signIn);
  const path = signInFile(home, options);
  const { tokens } = await readSignIn(world, path);
  if (tokens === undefined) return undefined;
  return personAuth(options, signIn, {
    redirect: "http://127.0.0.1/callback",
    state: "",
    show: async (_, scope) => {
      if (scope !== undefined) await writeSignIn(world, path, { ...(await readSignIn(world, path)), scope });
      throw new ServerFailure("sign-in", `${server} wants a sign-in. Run parley mcp login ${server}.`);
    },
  });
};

/** How a person signs in. */
export type SigningIn = OAuthOptions & {
  readonly show: (page: SignInPage) => void;
  /** Asked before anything is shown, where tokens would come from somebody else than whoever signs people in. Without it, no. */
  readonly agree?: (page: SignInPage) => Promise<boolean>;
  readonly signal: AbortSignal;
};

/**
 * Lets a person sign in at a server: finds out who signs people in there, introduces this program, and waits for the
 * browser to come back to a port of this machine alone.
 */
export const signInAt = async (options: SigningIn): Promise<void> => {
  const { world, home, server, url, signIn, lookup, signal } = options;
  if (signIn?.type === "never") throw new ServerFailure("sign-in", `${server} has oauth.enabled set to false.`);
  if (signIn?.type === "machine") throw new ServerFailure("sign-in", `${server} signs in by itself, as a machine.`);
  const { auth, computeScopeUnion } = await import("@modelcontextprotocol/client");
  const state = randomBytes(32).toString("base64url");
  const desk = await openDesk(state, signIn?.redirect);
  try {
    const show = (page: SignInPage): Promise<void> => showAgreed(page, options);
    const provider = await personAuth(options, signIn, { redirect: desk.redirect, state, show });
    const fetchFn = guardedFetch({ world, server: url, headers: {}, patience: 30_000, ...(lookup && { lookup }) });
    const { scope: wanted } = await readSignIn(world, signInFile(home, options));
    const { scope: asked, ...challenge } = await challengeOf(url, fetchFn, signal);
    const scope = computeScopeUnion(signIn?.scopes?.join(" ") ?? asked, wanted);
    const question = { serverUrl: url, fetchFn, ...challenge, ...(scope === undefined ? {} : { scope }) };
    await provider.invalidateCredentials?.("all");
    if ((await auth(provider, question)) === "AUTHORIZED") return;
    const { code, issuer } = await answerAt(desk, signal, world);
    await auth(provider, { ...question, authorizationCode: code, ...(issuer === undefined ? {} : { iss: issuer }) });
  } finally {
    desk.close();
  }
};

const showAgreed = async (page: SignInPage, { show, agree = async () => false }: SigningIn): Promise<void> => {
  if (page.issuesTokens !== undefined && !(await agree(page)))
    throw new ServerFailure(
      "sign-in",
      `The tokens would come from ${page.issuesTokens}, which is not where the sign-in is described. Nobody agreed to that.`,
    );
  show(page);
};

/** What a server says that it wants when nobody has signed in. */
const challengeOf = async (
  url: string,
  fetch: Fetch,
  signal: AbortSignal,
): Promise<{ readonly scope?: string; readonly resourceMetadataUrl?: URL }> => {
  const { extractWWWAuthenticateParams } = await import("@modelcontextprotocol/client");
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
  const answer = await fetch(url, { method: "POST", headers, body, signal });
  await answer.body?.cancel();
  const { scope, resourceMetadataUrl } = extractWWWAuthenticateParams(answer);
  return {
    ...(scope === undefined ? {} : { scope }),
    ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
  };
};

const longestSignIn = 5 * 60_000;

const answerAt = async (
  { visit }: Desk,
  signal: AbortSignal,
  { clock }: World,
): Promise<{ readonly code: string; readonly issuer?: string }> => {
  const { within } = await import("./within.ts");
  const brought = await within({ clock, ms: longestSignIn, signal }, () => visit);
  if (brought.type === "refused") throw new ServerFailure("sign-in", `The sign-in was refused (${brought.why}).`);
  return brought;
};
