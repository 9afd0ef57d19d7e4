import { approvalModes, isApprovalMode, type ApprovalMode } from "../../../../policy/gate/approval-mode.ts";
import type { PickerOption } from "../../../views/picker.ts";
import type { SlashCommandContext } from "../slash-command.ts";

const modeDescriptions: Readonly<Record<ApprovalMode, string>> = {
  plan: "reading alone; everything else is refused",
  default: "reading is free, the rest is asked about",
  auto_edit: "edits are free too; commands are asked about, unlike in Gemini CLI",
  yolo: "everything runs but what no mode allows",
};

/** The approval modes as picker options. */
export const modeOptions: readonly PickerOption[] = approvalModes.map((mode) => ({
  id: mode,
  label: mode,
  detail: modeDescriptions[mode],
}));

/** `/approval`: changes the approval mode. */
export const changeApprovalMode = async (words: string, at: SlashCommandContext): Promise<void> => {
  const { gate } = await at.opened().services();
  const mode =
    words === "" ? (await at.pick("What runs without being asked about?", modeOptions, gate.mode()))?.id : words;
  if (mode === undefined) return;
  if (!isApprovalMode(mode)) return at.warn(`There is no mode "${mode}". There are ${approvalModes.join(", ")}.`);
  await at.setMode(mode);
  at.info(`${mode}: ${modeDescriptions[mode]}.`);
};
