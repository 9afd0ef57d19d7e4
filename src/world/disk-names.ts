/** Whether a name is one component: nothing in it can lead elsewhere. */
export const isPlainName = (name: string, platform: string = process.platform): boolean =>
  name !== "" && name !== "." && name !== ".." && !(platform === "win32" ? /[/\\:\0]/ : /[/\0]/).test(name);
