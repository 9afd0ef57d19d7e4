import type { SlashCommandContext } from "../slash-command.ts";
import { trustFolder } from "../../approvals/trust-prompt.ts";

/** `/trust`: trusts this folder and reopens the session with its settings and context files. */
export const trustCurrentFolder = async (_: string, at: SlashCommandContext): Promise<void> => {
  if (at.loaded().policy.trusted) return at.info("This folder is already trusted. Undo with `parley trust --remove`.");
  const answer = await at.pick("Trust this folder: its settings, context files, commands and agents?", [
    { id: "no", label: "No" },
    { id: "yes", label: "Yes, trust it", detail: at.folder },
  ]);
  if (answer?.id !== "yes") return;
  await trustFolder(at);
  const { agent, session } = at.opened();
  const wasUsed = agent.hasMessages();
  await at.reopen(wasUsed ? { id: session.id } : "new");
  at.info(
    wasUsed
      ? "Trusted. This session keeps its start; use /clear for a new session with the context files."
      : "Trusted.",
  );
};
