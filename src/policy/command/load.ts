/**
 * Loads the judge of commands, and the shell. Only commands need them: a call that reads a file would otherwise wait for
 * them.
 */
export const loadCommands = (): Promise<typeof import("./open-commands.ts")> => import("./open-commands.ts");
