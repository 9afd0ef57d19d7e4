import { relative } from "node:path";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import { splitFrontMatter } from "../front-matter.ts";
import type { Skill } from "./find.ts";

/** The values that placeholders of a skill are replaced by. Without `arguments`, their placeholders stay. */
export type SkillValues = { readonly arguments?: string; readonly session: string };

/** Fills the placeholders of a skill's instructions: its folder, the session and the arguments. Returns sanitized text. */
export const fillSkill = (
  text: string,
  skill: Pick<Skill, "folder" | "argumentNames">,
  values: SkillValues,
): string => {
  const body = sanitizeForTerminal(splitFrontMatter(text)?.body ?? text)
    .trim()
    .replaceAll(/\$\{(?:CLAUDE_)?SKILL_DIR\}/g, () => skill.folder)
    .replaceAll("${CLAUDE_SESSION_ID}", () => values.session);
  return values.arguments === undefined ? body : fillArguments(body, values.arguments, skill.argumentNames);
};

/** Arguments without a placeholder follow the instructions. */
const fillArguments = (body: string, given: string, names: readonly string[] = []): string => {
  const words = (given.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replace(/^"(.*)"$/, "$1"));
  const word = (index: string): string => words[Number(index)] ?? "";
  const placeholder = new RegExp(
    String.raw`\$ARGUMENTS\[(\d)\]|\$ARGUMENTS|\$(\d)(?!\d)|\$(${names.length === 0 ? "(?!)" : names.join("|")})(?![\w-])`,
    "g",
  );
  const isUsed = placeholder.test(body);
  const filled = body.replaceAll(placeholder, (_, index?: string, short?: string, name?: string) => {
    const place = name === undefined ? (index ?? short) : String(names.indexOf(name));
    return place === undefined ? given : word(place);
  });
  return isUsed || given === "" ? filled : `${filled}\n\nArguments: ${given}`;
};

/** Describes the folder of a skill and its files, so that a model can read and run them. */
export const describeSkillFiles = (skill: Pick<Skill, "folder">, files: readonly string[]): string =>
  files.length === 0
    ? `The skill's folder is ${skill.folder}.`
    : [
        `The skill's folder is ${skill.folder}. Relative paths above start there. Its files:`,
        ...files.map((file) => `- ${sanitizeForTerminal(relative(skill.folder, file))}`),
      ].join("\n");
