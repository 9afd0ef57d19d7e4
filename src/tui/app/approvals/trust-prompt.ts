import type { HomeFolders } from "../../../world/home-folders.ts";
import { openAnswerStore } from "../../../policy/trust/answer-store.ts";
import { openTrustStore } from "../../../policy/trust/folders.ts";
import type { World } from "../../../world/world.ts";
import { line } from "../../text/line.ts";
import type { FrontEnd } from "../front-ends/front-end.ts";
import { messageLines } from "../transcript/message.ts";

/** The folder to ask about, and where answers are stored. */
export type TrustPromptOptions = {
  readonly world: Pick<World, "disk">;
  readonly home: HomeFolders;
  readonly folder: string;
};

/** Asks once per folder whether its settings and context files may be used. Returns true if it is trusted now. */
export const askToTrustFolder = async (
  frontEnd: FrontEnd,
  { world: { disk }, home, folder }: TrustPromptOptions,
): Promise<boolean> => {
  const declined = openAnswerStore(disk, home.config, "untrusted");
  const at = (await disk.canonicalPath(folder)) ?? folder;
  if (await declined.has({ untrusted: at })) return false;
  frontEnd.print(
    messageLines(
      "Do you trust the files in this folder? Its settings, context files, commands and agents can instruct Parley and the model. Until you trust it, none of them is read.",
      frontEnd.width(),
      "warning",
    ),
  );
  const answer = await frontEnd.confirm("Trust this folder?", [
    { id: "later", label: "Not now", detail: "none of them is used; ask again next time" },
    { id: "trust", label: "Yes, trust it", detail: at },
    { id: "never", label: "No, and don't ask again", detail: "change it with /trust" },
  ]);
  if (answer?.id === "never") await declined.save({ untrusted: at });
  if (answer?.id !== "trust") {
    frontEnd.print([line("Not trusted. Change it with /trust.", { tone: "muted" }), []]);
    return false;
  }
  await trustFolder({ world: { disk }, home, folder });
  frontEnd.print([line("Trusted.", { tone: "muted" }), []]);
  return true;
};

/** Trusts a folder, whatever was answered before. */
export const trustFolder = async ({ world: { disk }, home, folder }: TrustPromptOptions): Promise<void> => {
  const at = (await disk.canonicalPath(folder)) ?? folder;
  await openTrustStore(disk, home.config).trustFolder(folder);
  await openAnswerStore(disk, home.config, "untrusted").remove({ untrusted: at });
};
