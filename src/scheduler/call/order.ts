import type { TouchedPath } from "../../policy/gate/request.ts";
import type { ResolvedResources } from "./resolve-resources.ts";

/**
 * Whether a later call must wait for an earlier one: when one writes what the other touches, and when a command follows
 * a write, since a command may read anything. A write does not wait for an earlier command: some never end.
 */
export const mustWaitFor = (later: ResolvedResources, earlier: ResolvedResources): boolean =>
  pathsOverlap(later.writes, earlier.writes) ||
  pathsOverlap(later.reads, earlier.writes) ||
  pathsOverlap(later.writes, earlier.reads) ||
  (later.unnamed !== undefined && later.unnamed === earlier.unnamed) ||
  (later.command !== undefined && earlier.writes.length > 0);

const pathsOverlap = (some: readonly TouchedPath[], others: readonly TouchedPath[]): boolean =>
  some.some(({ path }) => others.some((other) => containsPath(path, other.path) || containsPath(other.path, path)));

/** A folder contains itself and everything below it. */
const containsPath = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(/[/\\]$/.test(folder) ? folder : `${folder}/`) || path.startsWith(`${folder}\\`);
