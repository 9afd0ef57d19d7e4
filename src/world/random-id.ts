const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** Creates an id of 24 random letters and digits. */
export const createId = (random: () => number): string =>
  Array.from({ length: 24 }, () => letters.charAt(Math.floor(random() * letters.length))).join("");
