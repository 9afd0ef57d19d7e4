import { canAnotherModelHelp, type Cooldowns } from "../../transport/cooldowns.ts";
import type { Failure } from "../../transport/failure.ts";

/** Orders targets: those without a recent failure first. The order is otherwise kept, so a conversation stays at its target. */
export const orderTargets = (targets: readonly string[], cooldowns: Cooldowns): readonly string[] => {
  const isResting = (target: string): boolean => cooldowns.isCoolingDown(target);
  return [...targets.filter((target) => !isResting(target)), ...targets.filter(isResting)];
};

/** Whether another target may answer after this failure. It may have a larger context window. */
export const canFailOver = (failure: Failure): boolean =>
  failure.kind === "context-too-long" || canAnotherModelHelp(failure);
