import { activateSkillToolName, listCatalogNames } from "../../context/skills/catalog.ts";
import { findSkills, type FoundSkills, type Skill, type SkillLocations } from "../../context/skills/find.ts";
import { openSkillCacheFile } from "../../context/skills/cache.ts";
import type { Conversation } from "../../conversation/entry.ts";
import type { World } from "../../world/world.ts";

/** The skills of a session, which can change while it runs. */
export type SessionSkills = {
  readonly current: () => readonly Skill[];
  /** Messages about files that are no skills, or are shadowed. */
  readonly notes: readonly string[];
  /**
   * Searches again. Returns a notice for the model if the skills it may activate differ from those the conversation
   * names so far.
   */
  readonly refresh: (conversation: () => AnnouncedText) => Promise<string | undefined>;
};

/** The texts of a conversation that name skills. */
type AnnouncedText = { readonly system: string; readonly entries: Conversation["entries"] };

/** Finds the skills of a session. A new one announces all of them; what a resumed one announced is read from its texts. */
export const openSessionSkills = async (
  locations: SkillLocations & Pick<World, "files" | "clock"> & { readonly cacheFolder: string },
  isResumed: boolean,
): Promise<SessionSkills> => {
  const cache = openSkillCacheFile(locations.files, locations.cacheFolder);
  const find = async (): Promise<FoundSkills> => {
    const found = await findSkills(locations, cache.open);
    await cache.save();
    return found;
  };
  let { skills, notes } = await find();
  const foundAt = locations.clock.elapsed();
  let announced: ReadonlySet<string> | undefined = isResumed ? undefined : new Set(skills.map(({ name }) => name));
  return {
    current: () => skills,
    notes,
    refresh: async (conversation) => {
      // The first prompt of a program comes at once: the search of the start is still right.
      if (announced !== undefined && locations.clock.elapsed() - foundAt < sameMomentMs) return undefined;
      announced ??= findAnnouncedSkills(conversation());
      ({ skills } = await find());
      const offered = skills.filter(({ isForModels }) => isForModels);
      const known = announced;
      announced = new Set(skills.map(({ name }) => name));
      return describeChanges(known, skills, offered);
    },
  };
};

/** Milliseconds after a search in which skills are not searched again. */
const sameMomentMs = 200;

const describeChanges = (
  known: ReadonlySet<string>,
  skills: readonly Skill[],
  offered: readonly Skill[],
): string | undefined => {
  const added = offered.filter(({ name }) => !known.has(name));
  const removed = [...known].filter((name) => !skills.some((skill) => skill.name === name));
  if (added.length === 0 && removed.length === 0) return undefined;
  return [
    ...(added.length === 0
      ? []
      : [
          addedHeading,
          ...added
            .slice(0, 20)
            .map(({ name, folder, description }) => `- ${name} (${folder}): ${description.slice(0, 300)}`),
        ]),
    ...(removed.length === 0 ? [] : [`${removedHeading} ${removed.join(", ")}.`]),
  ].join("\n");
};

const addedHeading = `New skills (use ${activateSkillToolName}, or read SKILL.md in the folder):`;
const removedHeading = "Skills that no longer exist:";

/** The names of the skills a conversation names: in its system prompt, as changed by later notices. */
const findAnnouncedSkills = ({ system, entries }: AnnouncedText): ReadonlySet<string> => {
  const names = new Set(listCatalogNames(system));
  for (const entry of entries) {
    if (entry.type !== "notice") continue;
    const [, added = ""] = entry.text.split(addedHeading);
    for (const [, name] of added.matchAll(/^- (\S+) \(/gm)) names.add(name!);
    const [, removed = ""] = entry.text.split(removedHeading);
    for (const name of removed.split("\n", 1)[0]!.replace(/\.$/, "").split(",")) names.delete(name.trim());
  }
  return names;
};
