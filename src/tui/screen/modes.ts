import type { Environment } from "../../world/world.ts";

/**
 * Terminal modes while the program runs: no automatic wrapping, bracketed paste, focus reports, and unambiguous keys
 * (the kitty keyboard protocol, and xterm's modifyOtherKeys). Terminals ignore unknown modes.
 */
export const enterModes = "\u001b[?7l\u001b[?2004h\u001b[?1004h\u001b[>1u\u001b[>4;1m";

/** Restores all modes, and what an interrupted frame may have left. */
export const leaveModes =
  "\u001b[?2026l\u001b[m\u001b]8;;\u001b\\\u001b[>4m\u001b[<u\u001b[?1004l\u001b[?2004l\u001b[?7h\u001b[?25h";

/**
 * Queries the background colour, kitty images, and last the device attributes, which every terminal reports. Only
 * terminals known to answer are asked about images: tmux and screen take the query for a title.
 */
export const terminalQueries = (env: Environment): string =>
  `\u001b]11;?\u001b\\${mayHaveKittyImages(env) ? kittyImageQuery : ""}\u001b[c`;

const kittyImageQuery = "\u001b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u001b\\";

const mayHaveKittyImages = (env: Environment): boolean =>
  !isMultiplexed(env) &&
  (env["KITTY_WINDOW_ID"] !== undefined ||
    env["KONSOLE_VERSION"] !== undefined ||
    /^(?:ghostty|WezTerm)$/.test(env["TERM_PROGRAM"] ?? "") ||
    /kitty|ghostty|wezterm/.test(env["TERM"] ?? ""));

/** Whether tmux or GNU screen is between the program and the terminal. */
export const isMultiplexed = (env: Environment): boolean =>
  env["TMUX"] !== undefined || env["STY"] !== undefined || /^(?:screen|tmux)/.test(env["TERM"] ?? "");

/** Queries the cell size of terminals with sixel support. */
export const cellSizeQuery = "\u001b[16t";

/** Whether a terminal wraps existing lines anew when it gets narrower. xterm, GNU screen and the Linux console cut them. */
export const reflowsLines = (env: Environment): boolean =>
  env["TMUX"] !== undefined ||
  (env["XTERM_VERSION"] === undefined && env["STY"] === undefined && !/^(?:linux|screen)/.test(env["TERM"] ?? ""));
