import { createHash } from "node:crypto";
import { providers } from "../../src/providers/all.ts";
import { composeRequest } from "../../src/wire/compose.ts";
import { buildHistory, makeHistory } from "./histories.ts";

/** Digest of the bodies of some histories for all providers. */
export const digestBodies = (): string => {
  const hash = createHash("sha256");
  for (let seed = 1; seed <= 60; seed++) {
    const { conversation } = buildHistory(makeHistory(seed));
    for (const provider of providers) {
      const destination = provider.destination(provider.defaultModel);
      const { body, report } = composeRequest(conversation, destination, { policy: { unsupportedMedia: "stub" } });
      hash.update(JSON.stringify([body, report]));
    }
  }
  return hash.digest("hex");
};
