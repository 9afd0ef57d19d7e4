import { createHash } from "node:crypto";
import type { ConsentRequest } from "../../policy/trust/project-settings.ts";
import { extendConsentDigest } from "../../settings/load/consent-digest.ts";
import type { Disk } from "../../world/disk.ts";

/**
 * Creates the consent request for hooks of a folder, whose JSON is `text`: its digest covers that text, the contents of
 * the files of the folder that commands in it name, and the secret variables it uses.
 */
export const createHookConsent = (
  disk: Disk,
  { root, key, text }: { readonly root: string; readonly key: string; readonly text: string },
): Promise<ConsentRequest> => {
  const digest = createHash("sha256")
    .update(JSON.stringify([key, text]))
    .digest("hex");
  return extendConsentDigest(disk, root, { key, text, digest });
};
