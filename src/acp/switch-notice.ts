import type { SwitchCheck } from "../agent/models/switch-check.ts";
import { switchCheckText } from "../tui/app/commands/built-in/model.ts";

/** Formats a switch check as a notice, in the words of the terminal UI. */
export const switchNotice = (check: SwitchCheck): string => switchCheckText(check).replaceAll("**", "");
