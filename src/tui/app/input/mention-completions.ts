import type { AgentSession } from "../../../agent/open-agent.ts";
import type { CompletionChoice } from "../../editor/completion.ts";

/** Limit of names read from a folder. */
const maxNames = 1000;

/** Completes a mention after `@`: files of the folder being typed, and MCP resources. */
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
