import type { AgentSession } from "../../../agent/open-agent.ts";
import type { CompletionChoice } from "../../editor/completion.ts";

/** How many names of a folder are looked at. */
const maxNames = 1000;

/** What can be named after an @: what is in the folder being typed, and what servers offer. */
export const completeMention = async (query: string, opened: AgentSession): Promise<readonly CompletionChoice[]> => {
  const folder = query.slice(0, query.lastIndexOf("/") + 1);
  const { workspace } = await opened.services();
  const listed = await workspace.list(folder === "" ? "." : folder, maxNames).catch(() => []);
  const names = listed.map(({ name, kind }) => `${folder}${name}${kind === "folder" ? "/" : ""}`);
  return [
    ...names.map((name) => ({ label: name, insert: name.replaceAll(/[\s\\"]/g, "\\$&") })),
    ...(query.includes("/") && !query.includes(":") ? [] : resourceChoices(opened)),
  ];
};

const resourceChoices = ({ servers }: AgentSession): readonly CompletionChoice[] =>
  (servers?.resources() ?? [])
    .filter(({ isTemplate }) => !isTemplate)
    .map(({ server, uri, name }) => ({ label: `${server}:${uri}`, detail: name, insert: `${server}:${uri}` }));
