import { createHash } from "node:crypto";

/** The name of a project's folder: its path for people to recognise, and a hash to tell it from others that look alike. */
export const projectName = (root: string): string => {
  const words = root
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
  const readable = words.join("-").slice(-longest).replace(/^-/, "");
  const hash = createHash("sha256").update(root).digest("hex").slice(0, 8);
  return readable === "" ? hash : `${readable}-${hash}`;
};

const longest = 40;
