import { openConsents, type Consents } from "../../policy/consents.ts";
import { shownCommand } from "../../policy/plain.ts";
import type { Consent } from "../../policy/settings.ts";
import { openTrust } from "../../policy/trust.ts";
import type { Loaded } from "../../settings/load.ts";
import type { World } from "../../world/world.ts";
import { line, linesOf } from "../text/line.ts";
import { wrap } from "../text/wrap.ts";
import type { Front } from "./front.ts";

/** Where servers are asked about, and what is known before. */
export type AgreePlace = {
  readonly world: World;
  readonly home: string;
  readonly folder: string;
  readonly loaded: Loaded;
};

/** Asks about each MCP server of a trusted project that nobody said anything about yet, before any could be started. */
export const askServers = async (front: Asker, { world, home, folder, loaded }: AgreePlace): Promise<void> => {
  const all = loaded.policy.trusted ? loaded.project.consents : await justTrusted({ world, home, folder });
  const wanted = all.filter(({ key }) => key.startsWith(prefix) && !isOwn(key, loaded));
  if (wanted.length === 0) return;
  const consents = openConsents(world.disk, home);
  await offerServers(front, { consents, folder, wanted: await consents.unanswered(folder, wanted) });
};

/** Shows servers whole, one after the other, and asks about each. True where one was agreed to. */
export const offerServers = async (
  front: Asker,
  {
    consents,
    folder,
    wanted,
  }: { readonly consents: Consents; readonly folder: string; readonly wanted: readonly Consent[] },
): Promise<boolean> => {
  let isAgreed = false;
  for (const consent of wanted) {
    const name = consent.key.slice(prefix.length);
    front.print([
      line(`This project wants to start the MCP server ${name}:`, { tone: "warning" }),
      ...linesOf(shownCommand(consent.text)).flatMap((each) => wrap(each, { width: front.width(), at: "letters" })),
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
type Asker = Pick<Front, "print" | "confirm" | "width">;

const prefix = "mcpServers.";

/** The person's own of that name is used instead. */
const isOwn = (key: string, { settings }: Loaded): boolean =>
  Object.hasOwn(settings.mcpServers, key.slice(prefix.length));

/** What a project wants that was only trusted after settings were read. */
const justTrusted = async ({ world, home, folder }: Omit<AgreePlace, "loaded">): Promise<readonly Consent[]> => {
  if (!(await openTrust(world.disk, home).isTrusted(folder))) return [];
  const { readProject } = await import("../../settings/project.ts");
  return (await readProject(world.disk, { root: folder, own: [home, `${world.host.home}/.gemini`] })).consents;
};
