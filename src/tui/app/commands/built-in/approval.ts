import { approvalModes, isApprovalMode, type ApprovalMode } from "../../../../policy/gate/approval-mode.ts";
import type { PickerOption } from "../../../views/picker.ts";
import type { SlashCommandContext } from "../slash-command.ts";

const modeDescriptions: Readonly<Record<ApprovalMode, string>> = {
  plan: "read-only; denies everything else",
  default: "reads without asking, asks for the rest",
  auto_edit: "also edits without asking; asks for commands (unlike Gemini CLI)",
  yolo: "runs everything without asking, except outside the workspace",
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
  const mode = words === "" ? (await at.pick("Approval mode", modeOptions, gate.mode()))?.id : words;
  if (mode === undefined) return;
  if (!isApprovalMode(mode)) return at.warn(`Unknown mode "${mode}". Available: ${approvalModes.join(", ")}.`);
  await at.setMode(mode);
  at.info(`${mode}: ${modeDescriptions[mode]}.`);
};
