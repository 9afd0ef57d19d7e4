import type { Memory } from "../../../tools/capabilities.ts";
import type { Desk } from "../command.ts";

/** `/memory`: what is remembered between sessions: shown, added to, edited. */
export const memory = async (words: string, at: Desk): Promise<void> => {
  const { capabilities } = await at.opened().services();
  const { memory: kept } = capabilities({ signal: new AbortController().signal, report: () => undefined });
  const now = (await kept.read()) ?? "";
  const [, action = "", rest = ""] = /^(\S*)\s*(.*)$/s.exec(words) ?? [];
  switch (action) {
    case "":
      if (now.trim() === "") return at.say("Nothing is remembered yet. /memory add TEXT adds something.");
      await at.show(now);
      return at.say(kept.path);
    case "add":
      if (rest === "") return at.warn("What shall be remembered? /memory add TEXT");
      await kept.write(`${now.trimEnd()}${now.trim() === "" ? "" : "\n"}- ${rest.replaceAll(/\s+/g, " ")}\n`);
      return at.say("It is remembered, from the next session on.");
    case "edit":
      return edit(now, kept, at);
    default:
      return at.warn("/memory shows it, /memory add TEXT adds to it, /memory edit opens it in your editor.");
  }
};

const edit = async (now: string, { path, write }: Memory, at: Desk): Promise<void> => {
  const edited = await at.edit(now, path);
  if (edited === undefined) return at.say("It is as it was.");
  await write(edited);
  at.say("It counts from the next session on.");
};
