/**
 * The approval mode: what runs without asking.
 *
 * plan: read-only, everything else is denied. default: reads run, everything else needs approval. auto_edit: edits
 * run too. yolo: everything runs except what no mode allows.
 */
export type ApprovalMode = "plan" | "default" | "auto_edit" | "yolo";

/** All modes, the strictest first. */
export const approvalModes: readonly ApprovalMode[] = ["plan", "default", "auto_edit", "yolo"];

/** Whether a text names a mode. */
export const isApprovalMode = (text: unknown): text is ApprovalMode => approvalModes.some((mode) => mode === text);

/** The stricter of two modes. */
export const stricterMode = (one: ApprovalMode, other: ApprovalMode): ApprovalMode =>
  approvalModes.indexOf(one) < approvalModes.indexOf(other) ? one : other;

/** The sources of the approval mode. */
export type ModeSources = {
  /** From the command line. Applies in every folder. */
  readonly commandLine?: ApprovalMode | undefined;
  /** From the user's own settings. */
  readonly settings?: ApprovalMode | undefined;
  /** From the project's settings. Can only restrict. */
  readonly project?: ApprovalMode | undefined;
  readonly trusted: boolean;
};

/** Chooses the mode a session starts in. In an untrusted folder the user's settings cannot loosen it. */
export const chooseInitialMode = ({
  commandLine,
  settings = "default",
  project,
  trusted,
}: ModeSources): ApprovalMode => {
  if (commandLine !== undefined) return commandLine;
  if (!trusted) return stricterMode(settings, "default");
  return project === undefined ? settings : stricterMode(settings, project);
};
