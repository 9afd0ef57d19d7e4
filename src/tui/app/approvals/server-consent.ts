import { openConsentStore, type ConsentStore } from "../../../policy/trust/consents.ts";
import { displayCommand } from "../../../policy/terminal/sanitize.ts";
import type { ConsentRequest } from "../../../policy/trust/project-settings.ts";
import { openTrustStore } from "../../../policy/trust/folders.ts";
import type { LoadedSettings } from "../../../settings/load/load.ts";
import type { World } from "../../../world/world.ts";
import { line, toLines } from "../../text/line.ts";
import { wrap } from "../../text/wrap.ts";
import type { FrontEnd } from "../front-ends/front-end.ts";

/** Where servers are asked about, and what is known before. */
export type ServerConsentOptions = {
  readonly world: World;
  readonly home: string;
  readonly folder: string;
  readonly loaded: LoadedSettings;
};

/** Asks about each MCP server of a trusted project that nobody said anything about yet, before any could be started. */
export const askServerConsents = async (
  front: ConsentPrompter,
  { world, home, folder, loaded }: ServerConsentOptions,
): Promise<void> => {
  const all = loaded.policy.trusted ? loaded.project.consents : await consentsAfterTrust({ world, home, folder });
  const wanted = all.filter(({ key }) => key.startsWith(prefix) && !isOwn(key, loaded));
  if (wanted.length === 0) return;
  const consents = openConsentStore(world.disk, home);
  await confirmServers(front, { consents, folder, wanted: await consents.findUnanswered(folder, wanted) });
};

/** Shows servers whole, one after the other, and asks about each. True where one was agreed to. */
export const confirmServers = async (
  front: ConsentPrompter,
  {
    consents,
    folder,
    wanted,
  }: { readonly consents: ConsentStore; readonly folder: string; readonly wanted: readonly ConsentRequest[] },
): Promise<boolean> => {
  let isAgreed = false;
  for (const consent of wanted) {
    const name = consent.key.slice(prefix.length);
    front.print([
      line(`This project wants to start the MCP server ${name}:`, { tone: "warning" }),
      ...toLines(displayCommand(consent.text)).flatMap((each) =>
        wrap(each, { width: front.width(), breakAt: "letters" }),
      ),
      ...(consent.secrets ?? []).map((secret) =>
        line(`It would be given your secret ${secret}, which is in the environment.`, { tone: "warning" }),
      ),
    ]);
    const answer = await front.confirm(`Start ${name}, now and from now on?`, [
      { id: "no", label: "No" },
      { id: "yes", label: "Yes, as it is written above" },
      { id: "never", label: "No, and do not ask at the start again", detail: "/mcp asks again" },
    ]);
    if (answer?.id === "never") await consents.decline(folder, consent);
    if (answer?.id !== "yes") continue;
    await consents.agree(folder, consent);
    isAgreed = true;
  }
  return isAgreed;
};

/** Whoever shows something and lets the person choose. */
type ConsentPrompter = Pick<FrontEnd, "print" | "confirm" | "width">;

const prefix = "mcpServers.";

/** The person's own of that name is used instead. */
const isOwn = (key: string, { settings }: LoadedSettings): boolean =>
  Object.hasOwn(settings.mcpServers, key.slice(prefix.length));

/** What a project wants that was only trusted after settings were read. */
const consentsAfterTrust = async ({
  world,
  home,
  folder,
}: Omit<ServerConsentOptions, "loaded">): Promise<readonly ConsentRequest[]> => {
  if (!(await openTrustStore(world.disk, home).isTrusted(folder))) return [];
  const { readMergedProjectSettings } = await import("../../../settings/load/project.ts");
  return (
    await readMergedProjectSettings(world.disk, { root: folder, personalFolders: [home, `${world.host.home}/.gemini`] })
  ).consents;
};
