import { spawn } from "node:child_process";
import { isSecretName } from "../../policy/secrets/names.ts";
import type { World } from "../../world/world.ts";

/** How long to wait for the opener to fail, in milliseconds. One that still runs then is taken to have succeeded. */
const startTimeoutMs = 3000;

/** Opens an http(s) URL in the user's browser, without a shell. Resolves to false if no program here can do that. */
export const openInBrowser = async (
  { processes, clock, env, host }: Pick<World, "processes" | "clock" | "env" | "host">,
  address: string,
): Promise<boolean> => {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return false;
  const { name, args } = openers[host.platform] ?? { name: "xdg-open", args: [] };
  const file = await processes.find(name, env["PATH"] ?? "");
  if (file === undefined) return false;
  const safeEnv = Object.fromEntries(Object.entries(env).filter(([key]) => !isSecretName(key)));
  // Some openers are the browser itself and keep running; they are detached, so they do not keep this process alive.
  return new Promise((resolve) => {
    const stopTimer = clock.after(startTimeoutMs, () => resolve(true));
    void spawnDetached(file, [...args, url.href], safeEnv)
      .then(resolve)
      .finally(stopTimer);
  });
};

const openers: { readonly [platform: string]: { readonly name: string; readonly args: readonly string[] } } = {
  darwin: { name: "open", args: [] },
  win32: { name: "rundll32", args: ["url.dll,FileProtocolHandler"] },
};

const spawnDetached = (file: string, args: readonly string[], env: World["env"]): Promise<boolean> =>
  new Promise((resolve) => {
    const child = spawn(file, args, { cwd: "/", env, detached: true, stdio: "ignore", shell: false });
    child.on("error", () => resolve(false));
    child.on("exit", (code) => resolve(code === 0));
    child.unref();
  });
