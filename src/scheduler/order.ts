import type { TouchedPath } from "../policy/gate-request.ts";
import type { Resolved } from "./resolve.ts";

/**
 * Whether a later call must wait for an earlier one: where one writes what the
 * other touches, and where a command follows a write, since a command may read
 * anything. A write does not wait for a command before it: some never end.
 */
export const mustFollow = (later: Resolved, earlier: Resolved): boolean =>
  overlap(later.writes, earlier.writes) ||
  overlap(later.reads, earlier.writes) ||
  overlap(later.writes, earlier.reads) ||
  (later.unnamed !== undefined && later.unnamed === earlier.unnamed) ||
  (later.command !== undefined && earlier.writes.length > 0);

const overlap = (some: readonly TouchedPath[], others: readonly TouchedPath[]): boolean =>
  some.some(({ path }) => others.some((other) => holds(path, other.path) || holds(other.path, path)));

/** A folder holds itself and what is below it. */
const holds = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(/[/\\]$/.test(folder) ? folder : `${folder}/`) || path.startsWith(`${folder}\\`);
