/** Loads the parser of shell scripts. Only commands need it. */
export const loadShellParser = (): Promise<typeof import("unbash")> => import("unbash");
