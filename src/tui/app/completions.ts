import type { Opened } from "../../agent/open.ts";
import type { Choice } from "../editor/completion.ts";

/** How many names of a folder are looked at. */
const mostNames = 1000;

/** What can be named after an @: what is in the folder being typed, and what servers offer. */
export const mentionChoices = async (query: string, opened: Opened): Promise<readonly Choice[]> => {
  const folder = query.slice(0, query.lastIndexOf("/") + 1);
  const { workspace } = await opened.services();
  const listed = await workspace.list(folder === "" ? "." : folder, mostNames).catch(() => []);
  const names = listed.map(({ name, kind }) => `${folder}${name}${kind === "folder" ? "/" : ""}`);
  return [
    ...names.map((name) => ({ label: name, insert: name.replaceAll(/[\s\\"]/g, "\\$&") })),
    ...(query.includes("/") && !query.includes(":") ? [] : resources(opened)),
  ];
};

const resources = ({ servers }: Opened): readonly Choice[] =>
  (servers?.resources() ?? [])
    .filter(({ isTemplate }) => !isTemplate)
    .map(({ server, uri, name }) => ({ label: `${server}:${uri}`, detail: name, insert: `${server}:${uri}` }));
