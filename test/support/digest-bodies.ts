import { createHash } from "node:crypto";
import { providers } from "../../src/providers/all.ts";
import { compose } from "../../src/wire/compose.ts";
import { build, makeHistory } from "./histories.ts";

/** Digest of the bodies of some histories for all providers. */
export const digestBodies = (): string => {
  const hash = createHash("sha256");
  for (let seed = 1; seed <= 60; seed++) {
    const { conversation } = build(makeHistory(seed));
    for (const provider of providers) {
      const destination = provider.destination(provider.defaultModel);
      const { body, report } = compose(conversation, destination, { policy: { unsupportedMedia: "stub" } });
      hash.update(JSON.stringify([body, report]));
    }
  }
  return hash.digest("hex");
};
