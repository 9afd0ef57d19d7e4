import type { Environment, World } from "../../world/world.ts";

/** The system's store of secrets: the keychain of macOS, or the Secret Service (GNOME Keyring, KWallet) of Linux. */
export type SystemKeyStore = {
  readonly name: string;
  /** Stores a secret. False if the store refuses it, e.g. because it is locked. */
  readonly write: (account: string, secret: string) => Promise<boolean>;
  readonly read: (account: string) => Promise<string | undefined>;
  readonly remove: (account: string) => Promise<boolean>;
};

/** The world with a search path that has no folder of the workspace. */
export type KeyStoreWorld = Pick<World, "processes" | "clock" | "host" | "env"> & { readonly searchPath: string };

/** Finds the system's store of secrets; undefined if there is none. Secrets are passed by stdin, never as arguments. */
export const findSystemKeyStore = async (world: KeyStoreWorld): Promise<SystemKeyStore | undefined> => {
  const { processes, host, searchPath } = world;
  if (host.platform === "darwin")
    return macKeychain((args, input) => runProgram(world, "/usr/bin/security", args, input));
  const file = host.platform === "linux" ? await processes.find("secret-tool", searchPath) : undefined;
  return file === undefined ? undefined : secretService((args, input) => runProgram(world, file, args, input));
};

const service = "parley";

type Run = (args: readonly string[], input: string) => Promise<{ readonly code: number; readonly output: string }>;

/** `security -i` reads commands from stdin, so that the secret is not in its arguments. */
const macKeychain = (run: Run): SystemKeyStore => ({
  name: "the keychain",
  write: async (account, secret) => {
    const command = `add-generic-password -U -s ${service} -a ${quote(account)} -w ${quote(secret)}`;
    // A line break would begin a second command, and a longer line is cut.
    if (/[\r\n\0]/.test(command) || Buffer.byteLength(command) >= maxCommandLength) return false;
    return (await run(["-i"], `${command}\n`)).code === 0;
  },
  read: async (account) => secretOf(await run(["find-generic-password", "-s", service, "-a", account, "-w"], "")),
  remove: async (account) => (await run(["delete-generic-password", "-s", service, "-a", account], "")).code === 0,
});

/** Bytes of a line that `security -i` reads. */
const maxCommandLength = 4095;

const quote = (text: string): string => `"${text.replaceAll(/["\\]/g, "\\$&")}"`;

/** `secret-tool store` reads the secret from stdin. */
const secretService = (run: Run): SystemKeyStore => ({
  name: "the system keyring",
  write: async (account, secret) =>
    (await run(["store", `--label=Parley: ${account}`, "service", service, "account", account], secret)).code === 0,
  read: async (account) => secretOf(await run(["lookup", "service", service, "account", account], "")),
  remove: async (account) => (await run(["clear", "service", service, "account", account], "")).code === 0,
});

const secretOf = ({ code, output }: { readonly code: number; readonly output: string }): string | undefined =>
  code === 0 && output.trim() !== "" ? output.trim() : undefined;

/** Milliseconds; a store may ask the user to unlock it. */
const storeTimeout = 60_000;

const runProgram = async (
  { processes, clock, env }: KeyStoreWorld,
  file: string,
  args: readonly string[],
  input: string,
): ReturnType<Run> => {
  try {
    const child = await processes.start({
      file,
      args,
      cwd: "/",
      env: sessionVariables(env),
      input,
      diesWithParent: true,
    });
    const stopTimer = clock.after(storeTimeout, () => child.signal("SIGKILL"));
    const decoder = new TextDecoder();
    let output = "";
    for await (const { from, bytes } of child.output) if (from === "output") output += decoder.decode(bytes);
    const { code } = await child.exited;
    stopTimer();
    return { code: code ?? 1, output };
  } catch {
    return { code: 1, output: "" };
  }
};

/** The variables a store needs to find the user's session. No key is among them. */
const sessionVariables = (env: Environment): { readonly [name: string]: string } =>
  Object.fromEntries(
    [
      "PATH",
      "HOME",
      "USER",
      "LANG",
      "DISPLAY",
      "WAYLAND_DISPLAY",
      "XDG_RUNTIME_DIR",
      "DBUS_SESSION_BUS_ADDRESS",
    ].flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])),
  );
