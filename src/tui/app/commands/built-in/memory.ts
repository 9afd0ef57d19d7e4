import type { Memory } from "../../../../tools/capabilities.ts";
import type { SlashCommandContext } from "../slash-command.ts";

/** `/memory`: shows, adds to or edits the memory kept between sessions. */
export const manageMemory = async (words: string, at: SlashCommandContext): Promise<void> => {
  const { capabilities } = await at.opened().services();
  const { memory } = capabilities({ signal: new AbortController().signal, report: () => undefined });
  const now = (await memory.read()) ?? "";
  const [, action = "", rest = ""] = /^(\S*)\s*(.*)$/s.exec(words) ?? [];
  switch (action) {
    case "":
      if (now.trim() === "") return at.info("Memory is empty. Add to it with /memory add TEXT.");
      await at.printMarkdown(now);
      return at.info(memory.path);
    case "add":
      if (rest === "") return at.warn("Usage: /memory add TEXT");
      await memory.write(`${now.trimEnd()}${now.trim() === "" ? "" : "\n"}- ${rest.replaceAll(/\s+/g, " ")}\n`);
      return at.info("Saved. Used from the next session.");
    case "edit":
      return editMemory(now, memory, at);
    default:
      return at.warn("Usage: /memory, /memory add TEXT, /memory edit");
  }
};

const editMemory = async (now: string, { path, write }: Memory, at: SlashCommandContext): Promise<void> => {
  const edited = await at.openEditor(now, path);
  if (edited === undefined) return at.info("Unchanged.");
  await write(edited);
  at.info("Saved. Used from the next session.");
};
