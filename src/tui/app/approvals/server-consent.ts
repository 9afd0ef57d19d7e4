import type { HomeFolders } from "../../../world/home-folders.ts";
import { openConsentStore, type ConsentStore } from "../../../policy/trust/consents.ts";
import { displayCommand } from "../../../policy/terminal/sanitize.ts";
import type { ConsentRequest } from "../../../policy/trust/project-settings.ts";
import { openTrustStore } from "../../../policy/trust/folders.ts";
import type { LoadedSettings } from "../../../settings/load/load.ts";
import type { World } from "../../../world/world.ts";
import { line, toLines } from "../../text/line.ts";
import { wrap } from "../../text/wrap.ts";
import type { FrontEnd } from "../front-ends/front-end.ts";

/** The folder whose servers need consent, and its settings. */
export type ServerConsentOptions = {
  readonly world: World;
  readonly home: HomeFolders;
  readonly folder: string;
  readonly loaded: LoadedSettings;
};

/** Asks for consent to each MCP server and the hooks of a trusted project that have no stored answer, before any is started. */
export const askServerConsents = async (
  frontEnd: ConsentPrompter,
  { world, home, folder, loaded }: ServerConsentOptions,
): Promise<void> => {
  const all = loaded.policy.trusted ? loaded.project.consents : await consentsAfterTrust({ world, home, folder });
  const wanted = all.filter(({ key }) => key.startsWith(prefix) && !isOwn(key, loaded));
  const hooks = all.filter(({ key }) => key.startsWith(hookPrefix));
  if (wanted.length === 0 && hooks.length === 0) return;
  const consents = openConsentStore(world.disk, home.config);
  await confirmServers(frontEnd, { consents, folder, wanted: await consents.findUnanswered(folder, wanted) });
  await confirmHooks(frontEnd, { consents, folder, wanted: await consents.findUnanswered(folder, hooks) });
};

/** Shows the hooks of each event in full and asks for consent. */
const confirmHooks = async (
  frontEnd: ConsentPrompter,
  {
    consents,
    folder,
    wanted,
  }: { readonly consents: ConsentStore; readonly folder: string; readonly wanted: readonly ConsentRequest[] },
): Promise<void> => {
  for (const consent of wanted) {
    const event = consent.key.slice(hookPrefix.length);
    frontEnd.print([
      line(`This project wants to run hooks at ${event}:`, { tone: "warning" }),
      ...toLines(displayCommand(consent.text)).flatMap((each) =>
        wrap(each, { width: frontEnd.width(), breakAt: "characters" }),
      ),
    ]);
    const answer = await frontEnd.confirm(`Always run these hooks in this project?`, [
      { id: "no", label: "No" },
      { id: "yes", label: "Yes, as shown above" },
      { id: "never", label: "No, and don't ask again", detail: "change it with parley hooks allow" },
    ]);
    if (answer?.id === "never") await consents.decline(folder, consent);
    if (answer?.id === "yes") await consents.agree(folder, consent);
  }
};

/** Shows each server in full and asks for consent. Returns true if one was allowed. */
export const confirmServers = async (
  frontEnd: ConsentPrompter,
  {
    consents,
    folder,
    wanted,
  }: { readonly consents: ConsentStore; readonly folder: string; readonly wanted: readonly ConsentRequest[] },
): Promise<boolean> => {
  let isAgreed = false;
  for (const consent of wanted) {
    const name = consent.key.slice(prefix.length);
    frontEnd.print([
      line(`This project wants to start the MCP server ${name}:`, { tone: "warning" }),
      ...toLines(displayCommand(consent.text)).flatMap((each) =>
        wrap(each, { width: frontEnd.width(), breakAt: "characters" }),
      ),
      ...(consent.secrets ?? []).map((secret) =>
        line(`It would receive your secret ${secret} from the environment.`, { tone: "warning" }),
      ),
    ]);
    const answer = await frontEnd.confirm(`Always start ${name} in this project?`, [
      { id: "no", label: "No" },
      { id: "yes", label: "Yes, as shown above" },
      { id: "never", label: "No, and don't ask again at start", detail: "ask again with /mcp" },
    ]);
    if (answer?.id === "never") await consents.decline(folder, consent);
    if (answer?.id !== "yes") continue;
    await consents.agree(folder, consent);
    isAgreed = true;
  }
  return isAgreed;
};

/** The part of a front end that prints and asks. */
type ConsentPrompter = Pick<FrontEnd, "print" | "confirm" | "width">;

const prefix = "mcpServers.";
const hookPrefix = "hooks.";

/** A server of the same name in the user's own settings takes precedence. */
const isOwn = (key: string, { settings }: LoadedSettings): boolean =>
  Object.hasOwn(settings.mcpServers, key.slice(prefix.length));

/** Reads the consents of a project that was trusted only after the settings were read. */
const consentsAfterTrust = async ({
  world,
  home,
  folder,
}: Omit<ServerConsentOptions, "loaded">): Promise<readonly ConsentRequest[]> => {
  if (!(await openTrustStore(world.disk, home.config).isTrusted(folder))) return [];
  const { readMergedProjectSettings } = await import("../../../settings/load/project.ts");
  return (
    await readMergedProjectSettings(world.disk, {
      root: folder,
      personalFolders: [home.config, `${world.host.home}/.gemini`],
    })
  ).consents;
};
