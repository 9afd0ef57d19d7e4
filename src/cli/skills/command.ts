import type { CommandSpec } from "../command.ts";

/** `parley skills`. */
export const skillsCommand: CommandSpec = {
  name: "skills",
  about: "List, show and check skills (SKILL.md)",
  usage: "list|show NAME|check [FOLDER...] [--json]",
  positionals: ["[ACTION]", "[NAME...]"],
  choices: ["list", "show", "check"],
  details: [
    "Skills are folders with a SKILL.md in .agents/skills, .parley/skills, .claude/skills or",
    ".gemini/skills, of the project (up to the root of the repository, if it is trusted) or of your home.",
    "The first of a name wins. check reports where a skill differs from the specification",
    "(agentskills.io), and fields without effect.",
  ],
  options: [{ name: "json", about: "Print JSON" }],
  example: "parley skills check .agents/skills/pdf",
  exitCodes: ["0  done, and check found no error", "1  no such skill, or check found errors", "2  wrong usage"],
  load: async () => (await import("./run.ts")).skills,
};
