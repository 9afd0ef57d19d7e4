import { basename, resolve } from "node:path";
import { openSessionPlugins } from "../../extensions/plugins/session.ts";
import { findSkills, readSkillText, type FoundSkills, type Skill } from "../../context/skills/find.ts";
import { parseSkillFile, type SkillProblem } from "../../context/skills/skill-file.ts";
import { nearestNames } from "../../conversation/nearest-names.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import { openTrustStore } from "../../policy/trust/folders.ts";
import { findHomeFolders } from "../../world/home-folders.ts";
import { realWorld } from "../../world/real/world.ts";
import type { World } from "../../world/world.ts";
import type { CommandHandler } from "../command.ts";
import { printJson } from "../format.ts";
import { alignColumns, sanitizeLine } from "../text-table.ts";
import { UserError, usageError } from "../user-error.ts";

/** `parley skills`: lists, shows and checks skills. */
export const skills: CommandHandler = async (args) => {
  const [action = "list", ...names] = args.positionals;
  const world = realWorld();
  switch (action) {
    case "list":
      return listSkills(await findOwnSkills(world), args.has("json"));
    case "show":
      if (names.length !== 1) throw usageError("skills show needs the name of a skill.");
      return showSkill(world, await findSkill(world, names[0] ?? ""), args.has("json"));
    case "check":
      return checkSkills(world, names, args.has("json"));
    default:
      throw usageError(`Unknown action "${action}". Available: list, show, check.`);
  }
};

const findOwnSkills = async (world: World): Promise<FoundSkills> => {
  const { config: home, data } = await findHomeFolders(world);
  const project = (await world.disk.canonicalPath(process.cwd())) ?? process.cwd();
  const { isTrusted } = openTrustStore(world.disk, home);
  const plugins = await openSessionPlugins(world, { home: data, folder: project });
  const locations = { disk: world.disk, home, userHome: world.host.home, isTrusted, plugins: plugins.skills };
  if (await isTrusted(project)) return findSkills({ ...locations, project });
  // In an untrusted folder the skills of the project are not read.
  const found = await findSkills(locations);
  return {
    ...found,
    notes: [...found.notes, `${project} is not trusted, so its skills are not used. parley trust changes that.`],
  };
};

const findSkill = async (world: World, name: string): Promise<Skill> => {
  const found = await findOwnSkills(world);
  const skill = found.skills.find((each) => each.name === name);
  if (skill !== undefined) return skill;
  const near = nearestNames(
    name,
    found.skills.map((each) => each.name),
  );
  const help = near.length === 0 ? "See parley skills list." : `Did you mean ${near.join(" or ")}?`;
  throw new UserError(`There is no skill "${sanitizeLine(name)}". ${help}`, { code: 1 });
};

const listSkills = ({ skills: found, notes }: FoundSkills, isJson: boolean): number => {
  if (isJson) return printJson({ skills: found.map(summarize), notes });
  const rows = found.map(({ name, label, source, description, isForModels, isForPeople }) => [
    name,
    source,
    sanitizeLine(label),
    isForModels ? (isForPeople ? "" : "model only") : "person only",
    sanitizeLine(description.length > 60 ? `${description.slice(0, 59)}…` : description),
  ]);
  for (const line of alignColumns(rows)) process.stdout.write(`${line}\n`);
  if (found.length === 0) process.stderr.write("parley: No skills found. See parley skills --help for their places.\n");
  for (const note of notes) process.stderr.write(`parley: ${sanitizeLine(note)}\n`);
  return 0;
};

const summarize = ({ name, description, label, folder, source, isForModels, isForPeople, usage }: Skill): object => ({
  name,
  description,
  label,
  folder,
  source,
  isForModels,
  isForPeople,
  ...(usage === undefined ? {} : { usage }),
});

const showSkill = async ({ disk }: World, skill: Skill, isJson: boolean): Promise<number> => {
  const text = (await readSkillText(disk, skill.folder)) ?? "";
  if (isJson) return printJson({ ...summarize(skill), problems: skill.problems, text });
  const lines = [
    `${skill.name}: ${sanitizeLine(skill.description)}`,
    `Folder: ${sanitizeLine(skill.folder)}`,
    ...skill.problems.map(formatProblem),
    "",
    sanitizeForTerminal(text).trimEnd(),
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
  return 0;
};

/** Checks skills by folder or name; without any, all that are found. */
const checkSkills = async (world: World, names: readonly string[], isJson: boolean): Promise<number> => {
  const folders =
    names.length === 0
      ? (await findOwnSkills(world)).skills.map(({ folder }) => folder)
      : await Promise.all(names.map((name) => resolveSkillFolder(world, name)));
  const checked = await Promise.all(
    folders.map(async (folder) => ({ folder, problems: await checkSkill(world, folder) })),
  );
  const hasErrors = checked.some(({ problems }) => problems.some(({ severity }) => severity === "error"));
  if (isJson) printJson({ skills: checked });
  else
    for (const { folder, problems } of checked) {
      process.stdout.write(`${sanitizeLine(folder)}${problems.length === 0 ? ": valid" : ""}\n`);
      for (const problem of problems) process.stdout.write(`${formatProblem(problem)}\n`);
    }
  if (checked.length === 0 && !isJson) process.stderr.write("parley: No skills found.\n");
  return hasErrors ? 1 : 0;
};

/** A path to a folder, or the name of a skill. */
const resolveSkillFolder = async (world: World, name: string): Promise<string> => {
  const folder = await world.disk.canonicalPath(resolve(name)).catch(() => undefined);
  if (folder !== undefined && (await readSkillText(world.disk, folder)) !== undefined) return folder;
  if (/[/\\.]/.test(name)) throw new UserError(`There is no SKILL.md in ${sanitizeLine(name)}.`, { code: 1 });
  return (await findSkill(world, name)).folder;
};

const checkSkill = async ({ disk }: World, folder: string): Promise<readonly SkillProblem[]> => {
  const parsed = await parseSkillFile((await readSkillText(disk, folder)) ?? "", basename(folder));
  if (!("problem" in parsed)) return parsed.problems;
  return [{ severity: "error", message: `It cannot be used: ${parsed.problem}.` }];
};

const formatProblem = ({ severity, message }: SkillProblem): string => `  ${severity}: ${sanitizeLine(message)}`;
