import type { UserPart } from "../../conversation/parts.ts";
import type { CallHooks } from "../../scheduler/call-hooks.ts";
import type { CompactionInfo } from "../events.ts";
import type { SwitchCheck } from "../models/switch-check.ts";

/** Hooks at the points of a turn. Methods never reject; each is called only where hooks are configured. */
export type TurnHooks = {
  /** Hooks around tool calls. */
  readonly calls: CallHooks;
  /** Begins a turn. Waits for the hooks of the session's start, so that the first request has what they say. */
  readonly startTurn: (promptId: string | undefined) => Promise<void>;
  /** Decides about a prompt. The refusal is for the person. */
  readonly beforePrompt: (
    parts: readonly UserPart[],
    signal: AbortSignal,
  ) => Promise<{ readonly refusal?: string; readonly context: readonly string[] }>;
  /** Decides whether the turn may end. `isRepeated` if it continued because of a hook already. */
  readonly beforeStop: (
    turn: { readonly text: string; readonly isRepeated: boolean },
    signal: AbortSignal,
  ) => Promise<{ readonly continueWith?: string }>;
  /** Decides about a compaction. The refusal is for the person. */
  readonly beforeCompaction: (
    compaction: { readonly trigger: "manual" | "auto"; readonly focus: string | undefined },
    signal: AbortSignal,
  ) => Promise<{ readonly refusal?: string }>;
  readonly afterCompaction: (
    compaction: { readonly trigger: "manual" | "auto"; readonly info: CompactionInfo },
    signal: AbortSignal,
  ) => Promise<void>;
  /** Decides about a switch of the model, with the figures of the switch check. */
  readonly beforeSwitch: (change: ModelSwitch & { readonly check: SwitchCheck }) => Promise<SwitchDecision>;
  readonly afterSwitch: (change: ModelSwitch & { readonly check: SwitchCheck }) => Promise<void>;
  /** Whether hooks of model switches are configured: the switch check is computed only then. */
  readonly watchesSwitches: boolean;
  /** Removes and returns texts of hooks for the model. */
  readonly takeContext: () => readonly string[];
  /** Removes and returns why a hook wants the turn to end. */
  readonly takeStop: () => string | undefined;
};

/** A change of the model: by the person, by rotation or because another failed. */
export type ModelSwitch = { readonly from: string; readonly to: string; readonly source: string };

/** The decision of hooks about a switch, why, and which of them made it. */
export type SwitchDecision = {
  readonly decision?: "ask" | "deny";
  readonly reason: string;
  readonly decidedBy: string;
};
