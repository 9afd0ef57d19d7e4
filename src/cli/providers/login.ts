import { homedir } from "node:os";
import type { Provider } from "../../providers/define.ts";
import { providers } from "../../providers/all.ts";
import { findHomeFolders } from "../../world/home-folders.ts";
import { signInToCodeAssist, signOutOfCodeAssist } from "../../transport/credentials/code-assist-sign-in.ts";
import { AuthError } from "../../transport/credentials/api-key.ts";
import {
  defaultProfile,
  keyVariable,
  lazySystemStore,
  removeKey,
  storeKey,
} from "../../transport/credentials/key-store.ts";
import type { SystemKeyStore } from "../../transport/credentials/system-key-store.ts";
import { explainFailure, ProviderError } from "../../transport/failure.ts";
import { probeProvider } from "../../transport/queries/probe.ts";
import { realWorld } from "../../world/real/world.ts";
import type { World } from "../../world/world.ts";
import type { Arguments, CommandHandler } from "../command.ts";
import { canPrompt, confirm } from "../confirm.ts";
import { withProgress } from "../progress.ts";
import { trustedEnvironment } from "../trusted-programs.ts";
import { usageError, UserError } from "../user-error.ts";
import { findNamedProvider, loadProviderWorld } from "./credentials.ts";
import { askLine, hideInput, readSecret } from "./read-secret.ts";

/** `parley login`: stores a pasted key, tested with one request; or signs in to Gemini Code Assist. */
export const login: CommandHandler = async (args) => {
  const name = args.positionals[0] ?? args.value("provider") ?? (await askProvider());
  if (name === "code-assist") return signIn();
  return withUserErrors(storeProviderKey(findNamedProvider(name), args));
};

/** `parley logout`: deletes a stored key; or revokes the tokens of the sign-in to Gemini Code Assist. */
export const logout: CommandHandler = async (args) => {
  const name = args.positionals[0] ?? args.value("provider") ?? "code-assist";
  if (name === "code-assist") {
    await withUserErrors(signOutOfCodeAssist(realWorld()));
    return report("Signed out. The tokens are deleted.");
  }
  const world = realWorld();
  const { id } = findNamedProvider(name);
  const profile = profileFrom(args);
  const isRemoved = await withUserErrors(
    removeKey(world, (await findHomeFolders(world)).config, { provider: id, profile }, systemStoreOf(world)),
  );
  if (!isRemoved) throw new UserError(`No key is stored for ${id}${describeProfile(profile)}.`, { code: 1 });
  return report(`Deleted the stored key for ${id}${describeProfile(profile)}.`);
};

const signIn = async (): Promise<number> => {
  const where = await withUserErrors(
    signInToCodeAssist(realWorld(), {
      show: (url) => {
        process.stderr.write("Open this URL in a browser on this machine and sign in:\n");
        process.stdout.write(`${url}\n`);
        process.stderr.write("Waiting up to five minutes. Press Ctrl-C to cancel.\n");
      },
    }),
  );
  return report(`Signed in. The tokens are in ${where}, readable only by you.`);
};

/** Asks for the provider at a terminal. Without one, it is the sign-in that needs no key. */
const askProvider = async (): Promise<string> => {
  if (!canPrompt()) return "code-assist";
  const names = providers.map(({ id }) => id).filter((id) => keyVariable(id) !== undefined);
  process.stderr.write(`Providers: ${names.join(", ")}; code-assist signs in with a Google account.\n`);
  const answer = (await askLine("Provider: ")).trim();
  if (answer === "") throw new UserError("No provider given. Nothing was stored.", { code: 1 });
  return answer;
};

const storeProviderKey = async (provider: Provider, args: Arguments): Promise<number> => {
  const { id, label } = provider;
  const variable = keyVariable(id);
  if (variable === undefined) throw new UserError(`${label} takes no key to store. parley doctor says what it needs.`);
  const profile = profileFrom(args);
  hideInput();
  const world = await loadProviderWorld();
  const key = await readSecret(`Paste the key for ${label} (it is not shown), then press Enter: `);
  reportKeyRead();
  if (key === "") throw new UserError("No key given. Nothing was stored.", { code: 1 });
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new UserError("A key has no spaces and only ASCII characters. Nothing was stored.", { code: 1 });
  const problem = await testKey(provider, { ...world, env: { ...world.env, [variable]: key } });
  if (problem?.isRefused === true) throw new UserError(`${problem.message} Nothing was stored.`, { code: 1 });
  if (problem !== undefined && !(await confirmUntested(problem.message, args)))
    throw new UserError("Not tested, so nothing was stored. Use --yes to store it anyway.", { code: 1 });
  const system = args.value("store") === "file" ? undefined : await systemStoreOf(world)();
  if (args.value("store") === "system" && system === undefined)
    throw new UserError("This system has no store of secrets that Parley can use. Use --store file.", { code: 1 });
  const where = await storeKey(world, (await findHomeFolders(world)).config, { provider: id, profile, key, system });
  const short = where.startsWith(`${homedir()}/`) ? `~${where.slice(homedir().length)}` : where;
  report(
    `Stored the key for ${id}${describeProfile(profile)} in ${short}${where.startsWith("/") ? ", readable only by you" : ""}.`,
  );
  if ((process.env[variable] ?? "") !== "")
    report(`${variable} is set in this environment, and is used instead unless a profile is named.`);
  return 0;
};

/** Tells the terminal UI that started this program that it may show again what is typed. */
const reportKeyRead = (): void => {
  if (process.send === undefined) return;
  process.send("key-read");
  process.disconnect();
};

/** Tests a key with one free request. Undefined if it works. */
const testKey = async (
  provider: Provider,
  world: World,
): Promise<{ readonly message: string; readonly isRefused: boolean } | undefined> => {
  process.stderr.write("Testing the key ...\n");
  const timeout = new AbortController();
  const stopTimer = world.clock.after(testTimeoutMs, () => timeout.abort(new Error("timed out")));
  try {
    const { models } = await withProgress("Waiting for a response", () =>
      probeProvider(provider, world, timeout.signal),
    );
    report(`The key works${models === undefined ? "" : `: ${models} ${models === 1 ? "model" : "models"}`}.`);
    return undefined;
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    const { failure } = error;
    return { message: explainFailure(failure), isRefused: failure.kind === "bad-key" };
  } finally {
    stopTimer();
  }
};

const testTimeoutMs = 15_000;

const confirmUntested = async (message: string, args: Arguments): Promise<boolean> => {
  report(`The key could not be tested. ${message}`);
  if (args.has("yes")) return true;
  return canPrompt() && confirm("Store it anyway?");
};

const profileFrom = (args: Arguments): string => {
  const profile = args.value("profile") ?? defaultProfile;
  if (!/^[\w.-]+$/.test(profile)) throw usageError("A profile is a name of letters, digits, dots and dashes.");
  return profile;
};

const describeProfile = (profile: string): string => (profile === defaultProfile ? "" : ` (profile ${profile})`);

const systemStoreOf = (world: World): (() => Promise<SystemKeyStore | undefined>) =>
  lazySystemStore(async () => ({
    ...world,
    searchPath: (await trustedEnvironment(world, process.cwd()))["PATH"] ?? "",
  }));

const report = (text: string): number => {
  process.stderr.write(`${text}\n`);
  return 0;
};

const withUserErrors = async <Value>(work: Promise<Value>): Promise<Value> => {
  try {
    return await work;
  } catch (error) {
    if (error instanceof AuthError) {
      const where = error.host === "" ? "" : `${error.host} cannot be reached. `;
      throw new UserError(`${where}${error.message}`, { code: 1 });
    }
    if (error instanceof Error && "code" in error && !(error instanceof UserError))
      throw new UserError(`${error.message}.`, { code: 1 });
    throw error;
  }
};
