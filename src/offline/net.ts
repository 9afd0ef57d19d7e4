import type { Net } from "../world/net.ts";
import type { DemoScript } from "./script/script.ts";

/** How the offline model is set up. */
export type DemoModelOptions = {
  /** What it says instead of thinking for itself; see `parseOfflineScript`. */
  readonly script?: DemoScript;
};

/**
 * A network in which addresses that begin with `offline:` are answered in
 * process, by the model that comes with Parley; all others go to `net`. The
 * model is loaded by the first request to it.
 */
export const withDemoModel = (net: Net, { script }: DemoModelOptions = {}): Net => ({
  send: async (request, signal) => {
    if (!request.url.startsWith("offline:")) return net.send(request, signal);
    const { serve } = await import("./api/serve.ts");
    return serve(request, script, signal);
  },
  ...(net.acquire === undefined ? {} : { acquire: net.acquire }),
});
