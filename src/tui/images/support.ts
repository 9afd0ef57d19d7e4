import type { Environment } from "../../world/world.ts";
import type { TerminalReply } from "../keys/key-event.ts";
import { isMultiplexed } from "../screen/modes.ts";

/** The image protocol of a terminal. */
export type ImageSupport = "kitty" | "iterm" | "sixel" | "none";

/** Detects image support from the environment and the terminal's replies. Inside tmux and screen only sixels they draw themselves get through. */
export const detectImageSupport = (env: Environment, replies: readonly TerminalReply[] = []): ImageSupport => {
  const drawn = replies.some(reportsSixel) ? "sixel" : "none";
  if (isMultiplexed(env)) return drawn;
  if (replies.some((reply) => reply.type === "kitty-images" && reply.isSupported)) return "kitty";
  const program = env["TERM_PROGRAM"] ?? "";
  if (env["KITTY_WINDOW_ID"] !== undefined || /kitty|ghostty/.test(env["TERM"] ?? "") || program === "ghostty")
    return "kitty";
  if (program === "iTerm.app" || program === "WezTerm" || env["LC_TERMINAL"] === "iTerm2") return "iterm";
  return drawn;
};

/** Whether a terminal reports sixel support. */
export const reportsSixel = (reply: TerminalReply): boolean =>
  reply.type === "attributes" && reply.attributes.includes(4);
