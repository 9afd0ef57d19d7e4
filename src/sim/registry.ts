import { anthropicFamily } from "./anthropic/family.ts";
import { bedrockFamily } from "./bedrock/family.ts";
import type { SimFamily, SimProvider, UnlistedProvider } from "./family.ts";
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
 * Finds a simulated provider and its family by id. The name of a family means its own vendor, which is listed first. A
 * described provider without an entry is simulated as a typical server of its family.
 */
export const findSimProvider = (
  name: string | UnlistedProvider,
): { readonly family: SimFamily; readonly provider: SimProvider } => {
  const id = typeof name === "string" ? name : name.id;
  for (const family of simFamilies) {
    const provider = family.providers.find((listed) => listed.id === id);
    if (provider !== undefined) return { family, provider };
  }
  const family = simFamilies.find(({ wire }) => wire === (typeof name === "string" ? name : name.wire));
  const provider = typeof name === "string" ? family?.providers[0] : genericProvider(family, name);
  if (family !== undefined && provider !== undefined) return { family, provider };
  throw new Error(`Unknown API "${id}". Available: ${listSimulatedProviders().join(", ")}.`);
};

/** Lists the ids of all providers with a simulator of their own. */
export const listSimulatedProviders = (): readonly string[] =>
  simFamilies.flatMap(({ providers }) => providers.map(({ id }) => id));

const genericProvider = (
  family: SimFamily | undefined,
  { id, wire, base, auth, models }: UnlistedProvider,
): SimProvider | undefined => {
  const template = family?.generic ?? family?.providers[0];
  if (template === undefined) return undefined;
  const sizes = { context: 128_000, maxOutput: 8192 };
  const listed = models.map((model) => ({ id: model, ...sizes }));
  return { ...template, id, wire, base, auth, models: listed, host: /(?!)/, knownModels: /./ };
};

/** Erases the type of the quirks. Safe, because a family only ever gets its own providers back. */
function eraseQuirks<Quirks>(family: SimFamily<Quirks>): SimFamily {
  return family as unknown as SimFamily;
}
