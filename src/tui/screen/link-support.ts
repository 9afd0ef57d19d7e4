import type { Environment } from "../../world/world.ts";
import { isMultiplexed } from "./modes.ts";

/** Whether a terminal is known to show OSC 8 links. Others may print them, so an unknown terminal gets none. */
export const supportsLinks = (env: Environment): boolean => {
  if (isMultiplexed(env)) return false;
  const [term, program] = [env["TERM"] ?? "", env["TERM_PROGRAM"] ?? ""];
  return (
    /^(?:xterm-kitty|xterm-ghostty|foot|foot-extra|alacritty|wezterm)$/.test(term) ||
    ["iTerm.app", "WezTerm", "ghostty", "vscode", "Hyper"].includes(program) ||
    (env["WT_SESSION"] ?? "") !== "" ||
    // GNOME Terminal and others on VTE 0.50 or later, Konsole 20.12 or later.
    Number(env["VTE_VERSION"] ?? 0) >= 5000 ||
    Number(env["KONSOLE_VERSION"] ?? 0) >= 201_200
  );
};
