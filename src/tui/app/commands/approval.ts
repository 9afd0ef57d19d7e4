import { approvalModes, isApprovalMode, type ApprovalMode } from "../../../policy/mode.ts";
import type { Option } from "../../views/picker.ts";
import type { Desk } from "../command.ts";

const meanings: Readonly<Record<ApprovalMode, string>> = {
  plan: "reading alone; everything else is refused",
  default: "reading is free, the rest is asked about",
  auto_edit: "edits are free too; commands are asked about, unlike in Gemini CLI",
  yolo: "everything runs but what no mode allows",
};

/** The modes there are. */
export const modeOptions: readonly Option[] = approvalModes.map((mode) => ({
  id: mode,
  label: mode,
  detail: meanings[mode],
}));

/** `/approval`: what runs without being asked about. */
export const approval = async (words: string, at: Desk): Promise<void> => {
  const { gate } = await at.opened().services();
  const mode =
    words === "" ? (await at.pick("What runs without being asked about?", modeOptions, gate.mode()))?.id : words;
  if (mode === undefined) return;
  if (!isApprovalMode(mode)) return at.warn(`There is no mode "${mode}". There are ${approvalModes.join(", ")}.`);
  await at.setMode(mode);
  at.say(`${mode}: ${meanings[mode]}.`);
};
