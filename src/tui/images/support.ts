import type { Environment } from "../../world/world.ts";
import type { TerminalReply } from "../keys/key-event.ts";

/** How a terminal shows pictures, if it does. */
export type ImageSupport = "kitty" | "iterm" | "sixel" | "none";

/** What the environment and the terminal's answers say. Within tmux and screen, only pictures they draw themselves get through. */
export const detectImageSupport = (env: Environment, replies: readonly TerminalReply[] = []): ImageSupport => {
  const drawn = replies.some(reportsSixel) ? "sixel" : "none";
  if (env["TMUX"] !== undefined || /^(?:screen|tmux)/.test(env["TERM"] ?? "")) return drawn;
  if (replies.some((reply) => reply.type === "pictures" && reply.isKitty)) return "kitty";
  const program = env["TERM_PROGRAM"] ?? "";
  if (env["KITTY_WINDOW_ID"] !== undefined || /kitty|ghostty/.test(env["TERM"] ?? "") || program === "ghostty")
    return "kitty";
  if (program === "iTerm.app" || program === "WezTerm" || env["LC_TERMINAL"] === "iTerm2") return "iterm";
  return drawn;
};

/** Whether a terminal says that it draws sixels. */
export const reportsSixel = (reply: TerminalReply): boolean =>
  reply.type === "attributes" && reply.attributes.includes(4);
