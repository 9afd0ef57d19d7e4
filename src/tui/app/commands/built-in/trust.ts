import type { SlashCommandContext } from "../slash-command.ts";
import { trustFolder } from "../../approvals/trust-prompt.ts";

/** `/trust`: trusts this folder and reopens the session with its settings and context files. */
export const trustCurrentFolder = async (_: string, at: SlashCommandContext): Promise<void> => {
  if (at.loaded().policy.trusted)
    return at.info("This folder is trusted already. parley trust --remove takes that back.");
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
      ? "It is trusted. What a session is told at its start stays as it was; /clear begins one with the context files."
      : "It is trusted.",
  );
};
