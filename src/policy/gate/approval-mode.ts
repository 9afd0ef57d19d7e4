/**
 * How much runs without being asked about.
 *
 * plan: reading alone, everything else is refused. default: reading is free,
 * the rest is asked about. auto_edit: edits are free too. yolo: everything
 * runs but what no mode allows.
 */
export type ApprovalMode = "plan" | "default" | "auto_edit" | "yolo";

/** All modes, the tightest first. */
export const approvalModes: readonly ApprovalMode[] = ["plan", "default", "auto_edit", "yolo"];

/** Whether a text names a mode. */
export const isApprovalMode = (text: unknown): text is ApprovalMode => approvalModes.some((mode) => mode === text);

/** The tighter of two modes. */
export const stricterMode = (one: ApprovalMode, other: ApprovalMode): ApprovalMode =>
  approvalModes.indexOf(one) < approvalModes.indexOf(other) ? one : other;

/** Where a mode can come from. */
export type ModeSources = {
  /** What the person says on the command line. It holds everywhere. */
  readonly commandLine?: ApprovalMode | undefined;
  /** What the person's own settings say. */
  readonly settings?: ApprovalMode | undefined;
  /** What the project asks for. It can only tighten. */
  readonly project?: ApprovalMode | undefined;
  readonly trusted: boolean;
};

/** The mode a session starts in. The person's settings loosen nothing in a folder that is not trusted. */
export const chooseInitialMode = ({
  commandLine: line,
  settings = "default",
  project,
  trusted,
}: ModeSources): ApprovalMode => {
  if (line !== undefined) return line;
  if (!trusted) return stricterMode(settings, "default");
  return project === undefined ? settings : stricterMode(settings, project);
};
