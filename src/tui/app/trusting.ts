import { openAnswers } from "../../policy/answers.ts";
import { openTrust } from "../../policy/trust.ts";
import type { World } from "../../world/world.ts";
import { line } from "../text/line.ts";
import type { Front } from "./front.ts";
import { told } from "./past.ts";

/** Where the question is about, and where answers are kept. */
export type TrustPlace = { readonly world: Pick<World, "disk">; readonly home: string; readonly folder: string };

/** Asks, once per folder, whether its files may tell Parley what to do. True where it is trusted from now on. */
export const askTrust = async (front: Front, { world: { disk }, home, folder }: TrustPlace): Promise<boolean> => {
  const declined = openAnswers(disk, home, "untrusted");
  const at = (await disk.canonical(folder)) ?? folder;
  if (await declined.has({ untrusted: at })) return false;
  front.print(
    told(
      "Do you trust the files in this folder? Its settings, context files, commands and agents can tell Parley and the model what to do. Until you trust it, none of them is read.",
      front.width(),
      "warning",
    ),
  );
  const answer = await front.confirm("Trust this folder?", [
    { id: "later", label: "Not now", detail: "its files are only files; ask again next time" },
    { id: "trust", label: "Yes, trust it", detail: at },
    { id: "never", label: "No, and do not ask again here", detail: "/trust changes that" },
  ]);
  if (answer?.id === "never") await declined.keep({ untrusted: at });
  if (answer?.id !== "trust") {
    front.print([line("Not trusted. /trust changes that.", { tone: "muted" }), []]);
    return false;
  }
  await trustFolder({ world: { disk }, home, folder });
  front.print([line("Trusted.", { tone: "muted" }), []]);
  return true;
};

/** Trusts a folder, whatever was answered before. */
export const trustFolder = async ({ world: { disk }, home, folder }: TrustPlace): Promise<void> => {
  const at = (await disk.canonical(folder)) ?? folder;
  await openTrust(disk, home).trust(folder);
  await openAnswers(disk, home, "untrusted").forget({ untrusted: at });
};
