import type { ToolDeclaration } from "../../conversation/entry.ts";
import { activateSkillToolName } from "../../context/skills/catalog.ts";

/** The tool that activates skills, as models see it. */
export const activateSkillDeclaration: ToolDeclaration = {
  name: activateSkillToolName,
  description: "Returns the instructions of a skill and lists its files.",
  parameters: {
    type: "object",
    properties: {
      name: { type: "string", minLength: 1, description: "Name of the skill." },
      arguments: { type: "string", description: "What to apply it to, if it takes arguments." },
    },
    required: ["name"],
  },
};
