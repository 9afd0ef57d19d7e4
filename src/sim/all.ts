import { anthropicFamily } from "./anthropic.ts";
import { bedrockFamily } from "./bedrock.ts";
import type { Family, SimProvider } from "./family.ts";
import { geminiFamily } from "./gemini.ts";
import { openaiChatFamily } from "./openai-chat.ts";
import { openaiResponsesFamily } from "./openai-responses.ts";

/** Every API family that can be simulated. */
const families: readonly Family[] = [
  opened(geminiFamily),
  opened(anthropicFamily),
  opened(bedrockFamily),
  opened(openaiResponsesFamily),
  opened(openaiChatFamily),
];

/** A simulated provider with its family, by id. The name of a family means its own vendor, which stands first. */
export const findProvider = (name: string): { readonly family: Family; readonly provider: SimProvider } => {
  for (const family of families) {
    const provider = family.providers.find(({ id }) => id === name);
    if (provider !== undefined) return { family, provider };
  }
  const family = families.find(({ wire }) => wire === name);
  const provider = family?.providers[0];
  if (family !== undefined && provider !== undefined) return { family, provider };
  throw new Error(`Nobody simulates "${name}". There are: ${simulated().join(", ")}.`);
};

/** Ids of all simulated providers. */
export const simulated = (): readonly string[] => families.flatMap(({ providers }) => providers.map(({ id }) => id));

/** The same family with its quirks out of sight. A family only ever gets its own providers back. */
function opened<Quirks>(family: Family<Quirks>): Family {
  return family as unknown as Family;
}
