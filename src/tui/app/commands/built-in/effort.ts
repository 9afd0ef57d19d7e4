import type { ThinkingSetting } from "../../../../wire/wire.ts";
import type { PickerOption } from "../../../views/picker.ts";
import type { SlashCommandContext } from "../slash-command.ts";

const efforts: readonly ThinkingSetting["effort"][] = ["none", "low", "medium", "high"];

/** The efforts as picker options. */
export const effortOptions: readonly PickerOption[] = [
  { id: "default", label: "default", detail: "the model's own" },
  { id: "none", label: "none", detail: "no thinking, where the model allows that" },
  { id: "low", label: "low" },
  { id: "medium", label: "medium" },
  { id: "high", label: "high" },
];

/** `/effort`: changes the reasoning effort from the next request. */
export const changeEffort = async (words: string, at: SlashCommandContext): Promise<void> => {
  const { agent } = at.opened();
  const name =
    words === "" ? (await at.pick("Reasoning effort", effortOptions, agent.thinking() ?? "default"))?.id : words;
  if (name === undefined) return;
  const effort = efforts.find((each) => each === name);
  if (effort === undefined && name !== "default")
    return at.warn(`Unknown effort "${name}". Available: ${effortOptions.map(({ id }) => id).join(", ")}.`);
  agent.setThinking(effort);
  at.info(
    `Effort: ${name}, from the next request. Make it the default with: parley config ${effort === undefined ? "unset thinking" : `set thinking ${effort}`}`,
  );
};
