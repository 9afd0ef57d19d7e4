import type { Memory, WorkspaceFiles } from "../../../../tools/capabilities.ts";
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

/** `#TEXT`: adds a line to a file of memory, after asking which. Without an answer the text goes back to the input. */
export const addToMemory = async (fact: string, at: SlashCommandContext): Promise<void> => {
  const [{ workspace, capabilities }, { appendFact, toSingleLine }] = await Promise.all([
    at.opened().services(),
    import("../../../../tools/save-memory.ts"),
  ]);
  const { memory } = capabilities({ signal: new AbortController().signal, report: () => undefined });
  const text = toSingleLine(fact);
  if (text === "") return at.warn("Nothing to remember.");
  const projectFile = await findProjectFile(at);
  const picked = await at.pick(`Remember "${text.slice(0, 60)}" where?`, [
    { id: "user", label: "For all projects", detail: memory.path },
    { id: "project", label: "For this project", detail: projectFile },
    { id: "send", label: "Nowhere: send it as a message" },
  ]);
  switch (picked?.id) {
    case "user":
      await memory.write(appendFact((await memory.read()) ?? "", text));
      return at.info(`Saved to ${memory.path}. Used from the next session.`);
    case "project":
      return addToProjectFile(projectFile, text, { workspace, appendFact, at });
    case "send":
      return at.send(`#${fact}`);
    default:
      return at.restoreDraft(`#${fact}`);
  }
};

/** The first context file of the project, or the first name for one. */
const findProjectFile = async ({ loaded, folder, world }: SlashCommandContext): Promise<string> => {
  const names = loaded().settings["context.fileName"];
  for (const name of names) if ((await world.files.read(`${folder}/${name}`)) !== undefined) return name;
  return names[0] ?? "AGENTS.md";
};

/** Size limit of a context file that is changed. */
const maxFileBytes = 1024 * 1024;

const addToProjectFile = async (
  name: string,
  text: string,
  {
    workspace,
    appendFact,
    at,
  }: {
    readonly workspace: Pick<WorkspaceFiles, "resolve" | "bytes" | "write">;
    readonly appendFact: (text: string, line: string) => string;
    readonly at: SlashCommandContext;
  },
): Promise<void> => {
  const { kind, identity } = await workspace.resolve(name);
  const before = kind === "absent" ? "" : Buffer.from(await workspace.bytes(name, maxFileBytes)).toString("utf8");
  await workspace.write(name, Buffer.from(appendFact(before, text)), kind === "absent" ? "absent" : identity);
  at.info(`Saved to ${name}. Used from the next session.`);
};

const editMemory = async (now: string, { path, write }: Memory, at: SlashCommandContext): Promise<void> => {
  const edited = await at.openEditor(now, path);
  if (edited === undefined) return at.info("Unchanged.");
  await write(edited);
  at.info("Saved. Used from the next session.");
};
