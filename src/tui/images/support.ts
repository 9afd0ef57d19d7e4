import type { Environment } from "../../world/world.ts";
import type { Reply } from "../keys/event.ts";

/** How a terminal shows pictures, if it does. */
export type PictureSupport = "kitty" | "iterm" | "sixel" | "none";

/** What the environment and the terminal's answers say. Within tmux and screen, only pictures they draw themselves get through. */
export const pictureSupport = (env: Environment, replies: readonly Reply[] = []): PictureSupport => {
  const drawn = replies.some(saysSixel) ? "sixel" : "none";
  if (env["TMUX"] !== undefined || /^(?:screen|tmux)/.test(env["TERM"] ?? "")) return drawn;
  if (replies.some((reply) => reply.type === "pictures" && reply.isKitty)) return "kitty";
  const program = env["TERM_PROGRAM"] ?? "";
  if (env["KITTY_WINDOW_ID"] !== undefined || /kitty|ghostty/.test(env["TERM"] ?? "") || program === "ghostty")
    return "kitty";
  if (program === "iTerm.app" || program === "WezTerm" || env["LC_TERMINAL"] === "iTerm2") return "iterm";
  return drawn;
};

/** Whether a terminal says that it draws sixels. */
export const saysSixel = (reply: Reply): boolean => reply.type === "attributes" && reply.attributes.includes(4);
