/** Finds the absolute path of the bundled ripgrep; undefined if there is none for this platform. */
export const findRipgrep = async (): Promise<string | undefined> => {
  try {
    return (await import("@vscode/ripgrep")).rgPath;
  } catch {
    return undefined;
  }
};
