import type { World } from "../world/world.ts";

/**
 * Where the tools of a session run while one worker has it: a folder on this machine, or a container or micro-VM behind
 * `world`.
 */
export type Workplace = {
  /** The disk and the processes of the tools. Default: those of the worker. */
  readonly world?: Pick<World, "disk" | "processes">;
  /** The folder of the session, as a canonical path. */
  readonly folder: string;
  /** The kind of folder, for the model: "a git clone of /project". Undefined if it is the project's own folder. */
  readonly about?: string;
  /** Whether the folder was made for this owner. If the session has worked before, the model learns that its files are gone. */
  readonly isNew: boolean;
  /** Folders that commands of this session do not see, such as those of other sessions. */
  readonly hidden?: readonly string[];
  /** A folder for outputs of this session that are too long for the model. */
  readonly scratch?: string;
  /** Ends everything that still runs there. The files stay for the next owner. */
  readonly close: () => Promise<void>;
};

/** The session a workplace is for. `fence` grows with each owner: what runs for a smaller one must end first. */
export type WorkplaceRequest = {
  readonly tenant: string;
  readonly id: string;
  readonly fence: number;
  /** The folder the session was created for. */
  readonly project: string;
};

/** Opens workplaces. Implement it for containers or micro-VMs. */
export type Workplaces = {
  /** Opens the workplace of a session. A failure gives the session back, and is reported. */
  readonly open: (request: WorkplaceRequest) => Promise<Workplace>;
  /** Removes what is left of sessions that do not exist any more. Called when a worker starts, and every hour. */
  readonly sweep?: (isGone: (tenant: string, id: string) => Promise<boolean>) => Promise<readonly SweptWorkplace[]>;
};

/** A workplace whose session does not exist any more: removed, or kept because of work that is nowhere else. */
export type SweptWorkplace = {
  readonly folder: string;
  readonly tenant: string;
  readonly id: string;
  readonly kept?: string;
};

/** A workplace that cannot be opened. The message is for the operator. */
export class WorkplaceError extends Error {}

/** All sessions of a project work in its own folder. */
export const sharedWorkplaces: Workplaces = {
  open: async ({ project }) => ({ folder: project, isNew: false, close: async () => undefined }),
};

/** The earlier work of a session, by its log. */
export type EarlierWork = {
  /** Whether a model has answered. */
  readonly hasWorked: boolean;
  /** The last notice about its workplace. */
  readonly notice: string | undefined;
};

/** The beginning of every notice about a workplace. Part of sent prompts: it never changes. */
export const workplaceNoticeStart = "The tools of this session work in ";

/** The notice the model gets before its next request; undefined if it knows all of it. */
export const describeWorkplace = (
  { folder, about, isNew }: Workplace,
  { project }: Pick<WorkplaceRequest, "project">,
  { hasWorked, notice }: EarlierWork,
): string | undefined => {
  const known = `${workplaceNoticeStart}${folder}`;
  const isAnew = isNew && hasWorked;
  if (!isAnew && (about === undefined ? notice === undefined : notice?.startsWith(`${known},`) === true))
    return undefined;
  if (about === undefined) return `${known}.`;
  const anew = `It was made anew: files of earlier turns that were not committed and pushed are not there. Look before you rely on them.`;
  return `${known}, ${about}. Use paths below it, not below ${project}.${isAnew ? ` ${anew}` : ""}`;
};
