/** The absolute path of the ripgrep that comes with Parley; undefined where there is none for this machine. */
export const findRipgrep = async (): Promise<string | undefined> => {
  try {
    return (await import("@vscode/ripgrep")).rgPath;
  } catch {
    return undefined;
  }
};
