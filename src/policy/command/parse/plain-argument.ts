/** Whether an argument is a name, a number, or a path without "..". */
export const isPlainArgument = (word: string): boolean =>
  /^[\w.](?:[\w.,@+/-]|:(?![:/]))*$/.test(word) && !word.split("/").includes("..");
