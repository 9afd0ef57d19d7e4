import type { Desk } from "../command.ts";
import { trustFolder } from "../trusting.ts";

/** `/trust`: lets this folder's files tell Parley what to do, and opens the session anew with them. */
export const trust = async (_: string, at: Desk): Promise<void> => {
  if (at.loaded().policy.trusted)
    return at.say("This folder is trusted already. parley trust --remove takes that back.");
  const answer = await at.pick("Trust this folder: its settings, context files, commands and agents?", [
    { id: "no", label: "No" },
    { id: "yes", label: "Yes, trust it", detail: at.folder },
  ]);
  if (answer?.id !== "yes") return;
  await trustFolder(at);
  const { agent, session } = at.opened();
  const wasUsed = agent.isUsed();
  await at.reopen(wasUsed ? { id: session.id } : "new");
  at.say(
    wasUsed
      ? "It is trusted. What a session is told at its start stays as it was; /clear begins one with the context files."
      : "It is trusted.",
  );
};
