import type { Environment } from "../../world/world.ts";
import { sanitizeLine } from "../text/line.ts";
import { isMultiplexed } from "./modes.ts";

/** How a person is called: by what the terminal can do, by the bell alone, or not at all. */
export type NotificationMode = "auto" | "bell" | "off";

/**
 * The sequence that calls a person: a desktop notification where the terminal is known to show one (OSC 99 of kitty,
 * OSC 9 of iTerm2, WezTerm and Ghostty, OSC 777 of foot and rxvt), else the bell; and a window title until it is taken
 * back. tmux and screen get the bell, which they show themselves, and pass the rest on.
 */
export const encodeNotification = (text: string, env: Environment, mode: NotificationMode): string => {
  if (mode === "off") return "";
  const shown = sanitizeLine(text).replaceAll(";", ",").slice(0, 120);
  const notification = mode === "bell" ? "" : desktopNotification(shown, env);
  if (isMultiplexed(env)) return `\u0007${passThrough(notification, env)}`;
  const bell = notification === "" ? "\u0007" : "";
  return mode === "bell" ? bell : `${bell}${notification}\u001b[22;2t\u001b]2;Parley: ${shown}\u0007`;
};

/** The sequence that restores the window title. */
export const clearNotification = (env: Environment, mode: NotificationMode): string =>
  mode !== "auto" || isMultiplexed(env) ? "" : "\u001b[23;2t";

const desktopNotification = (text: string, env: Environment): string => {
  const [term, program] = [env["TERM"] ?? "", env["TERM_PROGRAM"] ?? ""];
  if (env["KITTY_WINDOW_ID"] !== undefined || term.includes("kitty")) return `\u001b]99;;Parley: ${text}\u0007`;
  if (/^(?:iTerm\.app|WezTerm|ghostty)$/.test(program) || env["LC_TERMINAL"] === "iTerm2" || term.includes("ghostty"))
    return `\u001b]9;Parley: ${text}\u0007`;
  return /^(?:foot|rxvt)/.test(term) ? `\u001b]777;notify;Parley;${text}\u0007` : "";
};

/** Wraps a sequence so that tmux (with `allow-passthrough`) or screen hands it to the terminal around it. */
const passThrough = (sequence: string, env: Environment): string => {
  if (sequence === "") return "";
  const isTmux = env["TMUX"] !== undefined || (env["TERM"] ?? "").startsWith("tmux");
  return isTmux ? `\u001bPtmux;${sequence.replaceAll("\u001b", "\u001b\u001b")}\u001b\\` : `\u001bP${sequence}\u001b\\`;
};
