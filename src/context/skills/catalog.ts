import type { Skill } from "./find.ts";

/** The name of the tool that activates a skill. */
export const activateSkillToolName = "activate_skill";

/** The most bytes of the catalog in the system prompt. */
const maxBytes = 6000;
const maxNameBytes = 2000;

/**
 * Formats the skills that models may activate for the system prompt; "" if there are none. Descriptions are shortened
 * evenly to fit the budget; skills whose names do not fit are left out and counted.
 */
export const formatSkillCatalog = (skills: readonly Skill[]): string => {
  const offered = skills.filter(({ isForModels }) => isForModels);
  if (offered.length === 0) return "";
  const listed: Skill[] = [];
  let nameBytes = 0;
  for (const skill of offered) {
    const bytes = Buffer.byteLength(skill.name) + 4;
    if (nameBytes + bytes > maxNameBytes) break;
    nameBytes += bytes;
    listed.push(skill);
  }
  const length = descriptionLength(listed, maxBytes - nameBytes);
  return [
    heading,
    "",
    ...listed.map(({ name, description }) => `- ${name}: ${shorten(description, length)}`),
    ...(listed.length === offered.length ? [] : [`(${offered.length - listed.length} more skills are not listed.)`]),
  ].join("\n");
};

const heading = `# Skills

Instructions for special kinds of work. If a request fits one of these, call ${activateSkillToolName} with its name first and follow the instructions it returns.`;

/** Lists the names of the skills in the catalog of a system prompt. */
export const listCatalogNames = (system: string): readonly string[] => {
  const [, catalog = ""] = system.split(`${heading}\n\n`);
  const [list = ""] = catalog.split("\n\n", 1);
  return [...list.matchAll(/^- (\S+): /gm)].map(([, name]) => name!);
};

/** The greatest number of characters per description that fits the budget. */
const descriptionLength = (skills: readonly Skill[], budget: number): number => {
  const sizes = skills.map(({ description }) => Buffer.byteLength(description));
  let length = Math.max(...sizes);
  const total = (): number => sizes.reduce((sum, size) => sum + Math.min(size, length), 0);
  while (length > 20 && total() > budget) length = Math.floor(length * 0.9);
  return length;
};

/** Shortens a text to a number of bytes. */
const shorten = (text: string, maxLength: number): string => {
  if (Buffer.byteLength(text) <= maxLength) return text;
  const cut = Buffer.from(text)
    .subarray(0, Math.max(0, maxLength - 3))
    .toString("utf8");
  return `${cut.replace(/\uFFFD+$/, "").trimEnd()}…`;
};
