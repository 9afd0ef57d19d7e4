import type { Net } from "../world/net.ts";
import type { DemoScript } from "./script/script.ts";

/** Options of the demo model. */
export type DemoModelOptions = {
  /** Scripted replies instead of rule-based ones; see `parseDemoScript`. */
  readonly script?: DemoScript;
};

/**
 * Wraps a network so that URLs starting with `offline:` are answered in process by the demo model; all others go to
 * `net`. The model is loaded with its first request.
 */
export const withDemoModel = (net: Net, { script }: DemoModelOptions = {}): Net => ({
  send: async (request, signal) => {
    if (!request.url.startsWith("offline:")) return net.send(request, signal);
    const { serve } = await import("./api/serve.ts");
    await request.ready;
    return serve(request, script, signal);
  },
  ...(net.acquire === undefined ? {} : { acquire: net.acquire }),
});
