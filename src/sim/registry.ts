import { anthropicFamily } from "./anthropic/family.ts";
import { bedrockFamily } from "./bedrock/family.ts";
import type { SimFamily, SimProvider } from "./family.ts";
import { geminiFamily } from "./gemini/family.ts";
import { openaiChatFamily } from "./openai-chat/family.ts";
import { openaiResponsesFamily } from "./openai-responses/family.ts";

/** Every API family that can be simulated. */
const simFamilies: readonly SimFamily[] = [
  eraseQuirks(geminiFamily),
  eraseQuirks(anthropicFamily),
  eraseQuirks(bedrockFamily),
  eraseQuirks(openaiResponsesFamily),
  eraseQuirks(openaiChatFamily),
];

/**
 * Finds a simulated provider and its family by id. The name of a family means its own vendor, which is listed first.
 */
export const findSimProvider = (name: string): { readonly family: SimFamily; readonly provider: SimProvider } => {
  for (const family of simFamilies) {
    const provider = family.providers.find(({ id }) => id === name);
    if (provider !== undefined) return { family, provider };
  }
  const family = simFamilies.find(({ wire }) => wire === name);
  const provider = family?.providers[0];
  if (family !== undefined && provider !== undefined) return { family, provider };
  throw new Error(`Nobody simulates "${name}". There are: ${listSimulatedProviders().join(", ")}.`);
};

/** Lists the ids of all simulated providers. */
export const listSimulatedProviders = (): readonly string[] =>
  simFamilies.flatMap(({ providers }) => providers.map(({ id }) => id));

/** Erases the type of the quirks. Safe, because a family only ever gets its own providers back. */
function eraseQuirks<Quirks>(family: SimFamily<Quirks>): SimFamily {
  return family as unknown as SimFamily;
}
