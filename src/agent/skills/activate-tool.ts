import { join } from "node:path";
import { object, optional, string } from "../../tools/schema.ts";
import { describeSkillFiles, fillSkill } from "../../context/skills/activation.ts";
import type { Skill } from "../../context/skills/find.ts";
import { nearestNames } from "../../conversation/nearest-names.ts";
import type { WorkspaceFiles } from "../../tools/capabilities.ts";
import { defineTool, ToolFailure, type AnyTool } from "../../tools/tool.ts";
import { activateSkillDeclaration } from "./declaration.ts";

const limits = { bytes: 200_000, files: 60, folders: 20 };

/**
 * Creates the tool with which a model activates a skill. It only returns text: commands in the skill are not run, and
 * the calls that follow need approval as usual.
 */
export const createActivateSkillTool = (skills: () => readonly Skill[], session: string): AnyTool =>
  defineTool({
    name: activateSkillDeclaration.name,
    description: activateSkillDeclaration.description ?? "",
    access: "read",
    input: object({ name: string({ minLength: 1 }), arguments: optional(string()) }),
    touches: () => ({}),
    title: ({ name }) => `Use the skill ${name}`,
    run: async ({ name, arguments: given = "" }, { files }) => {
      const offered = skills().filter(({ isForModels }) => isForModels);
      const skill = offered.find((each) => each.name === name);
      if (skill === undefined) throw new ToolFailure("invalid_tool_params", describeUnknownSkill(name, offered));
      const path = join(skill.folder, "SKILL.md");
      const ignoredBy = await files.ignored(path, { git: false, own: true });
      if (ignoredBy !== undefined) throw new ToolFailure("policy_violation", `${path} is excluded by ${ignoredBy}.`);
      const text = new TextDecoder().decode(await files.bytes(path, limits.bytes));
      const content = [
        `<skill name="${name}">`,
        fillSkill(text, skill, { arguments: given, session }),
        "</skill>",
        describeSkillFiles(skill, await listSkillFiles(files, skill.folder)),
        ...(/!`[^`\n]+`|^[ \t]*`{3,}!/m.test(text)
          ? ["Commands written as !`command` were not run: run them yourself if needed."]
          : []),
      ].join("\n");
      return { content: [{ type: "text", text: content }], display: { type: "text", text: skill.description } };
    },
  });

const describeUnknownSkill = (name: string, offered: readonly Skill[]): string => {
  const names = offered.map((each) => each.name);
  const near = nearestNames(name, names);
  return `There is no skill "${name}". ${near.length > 0 ? `Did you mean ${near.join(" or ")}?` : `Skills: ${names.slice(0, 50).join(", ")}.`}`;
};

/** Lists the files of a skill, without ignored ones; the first few of a large one. */
const listSkillFiles = async (files: WorkspaceFiles, root: string): Promise<readonly string[]> => {
  const found: string[] = [];
  const folders = [root];
  for (let folder = folders.shift(), count = 0; folder !== undefined && count < limits.folders; count++) {
    const isIgnored = await files.ignoring(folder, { git: false, own: true });
    for (const { name, kind } of await files.list(folder, limits.files)) {
      if (name.startsWith(".") || isIgnored(name, kind === "folder") !== undefined) continue;
      if (kind === "folder" && name !== "node_modules") folders.push(join(folder, name));
      if (kind === "file" && name !== "SKILL.md" && found.length < limits.files) found.push(join(folder, name));
    }
    folder = folders.shift();
  }
  return found;
};
