import { fingerprint } from "../../world/fingerprint.ts";

/** The name of a project's folder: its path for people to recognise, and a hash to tell it from others that look alike. */
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
