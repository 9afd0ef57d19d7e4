/**
 * What the terminal is asked to do while the program has it: no line breaks of its own, pastes and focus told, keys told
 * apart (the keyboard protocol of kitty, and xterm's for those that lack it). Terminals skip what they do not know.
 */
export const enterModes = "\u001b[?7l\u001b[?2004h\u001b[?1004h\u001b[>1u\u001b[>4;1m";

/** Everything as it was: also what a frame broken off in the middle may have left. */
export const leaveModes =
  "\u001b[?2026l\u001b[m\u001b]8;;\u001b\\\u001b[>4m\u001b[<u\u001b[?1004l\u001b[?2004l\u001b[?7h\u001b[?25h";

/** Asks for the colour of the ground, for pictures, and last for what every terminal answers. */
export const terminalQueries = "\u001b]11;?\u001b\\\u001b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u001b\\\u001b[c";

/** Asks how large a letter is, of terminals that draw pictures pixel by pixel. */
export const cellSizeQuery = "\u001b[16t";
