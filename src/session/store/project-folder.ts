import { fingerprint } from "../../hash.ts";

/** Returns the name of a project's session folder: a readable part of its path, and a hash that makes it unique. */
export const projectFolderName = (root: string): string => {
  const words = root
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
  const readable = words.join("-").slice(-maxReadableLength).replace(/^-/, "");
  const hash = fingerprint(root).slice(0, 8);
  return readable === "" ? hash : `${readable}-${hash}`;
};

const maxReadableLength = 40;
