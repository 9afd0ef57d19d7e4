import { describeSkillFiles, fillSkill } from "../../../../context/skills/activation.ts";
import { readSkillText, type Skill } from "../../../../context/skills/find.ts";
import type { PromptCommand } from "../slash-command.ts";
import { fillTemplate } from "./prompt-template.ts";

/** The command that activates a skill: sends its instructions, with the arguments, as a prompt. */
export const skillCommand = (skill: Skill): PromptCommand => ({
  name: skill.name,
  description: skill.description.slice(0, 200),
  ...(skill.usage === undefined ? {} : { usage: skill.usage }),
  run: async (words, at) => {
    const text = await readSkillText(at.world.disk, skill.folder);
    if (text === undefined) return at.warn(`The skill ${skill.name} no longer exists in ${skill.label}.`);
    const body = fillSkill(oneBased(text), skill, { session: at.opened().session.id });
    const { name, description, argumentNames = [] } = skill;
    const template = { name, description, prompt: body, style: "claude", argumentNames } as const;
    const prompt = await fillTemplate(template, words, at);
    if (prompt === undefined) return;
    const lines = [`<skill name="${skill.name}">`, prompt, "</skill>", describeSkillFiles(skill, [])];
    await at.send(lines.join("\n"));
  },
});

/** Writes the places of arguments as in command files, where the first is `$1`; in skills it is `$0`. */
const oneBased = (text: string): string =>
  text.replaceAll(
    /\$ARGUMENTS\[([0-8])\]|\$([0-8])(?!\d)/g,
    (_, index?: string, short?: string) => `$${Number(index ?? short) + 1}`,
  );
