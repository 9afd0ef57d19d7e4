import { type SwitchCheck, switchCheck as checkSwitch } from "../agent/switch-check.ts";
import { describedInput } from "../agent/model-input.ts";
import { modelName, parseModel, type ModelRef } from "../agent/model-ref.ts";
import { text } from "../conversation/builders.ts";
import { Ledger } from "../conversation/ledger.ts";
import type { Note } from "../conversation/notes.ts";
import type { ModelInput } from "../providers/input.ts";
import { factsOf } from "../providers/models.ts";
import type { ReadSession } from "../session/store.ts";
import { summaryOf } from "../session/summary.ts";
import { countTokens } from "../transport/counting.ts";
import { ProviderError } from "../transport/failure.ts";
import type { World } from "../world/world.ts";
import type { Arguments } from "./arguments.ts";
import type { Run } from "./commands.ts";
import { prepare } from "./opening.ts";
import { composedFor } from "./session-render.ts";
import { sizeOf } from "./session-size.ts";
import { openStore, readably, readNamed } from "./session-store.ts";
import { counted, printJson } from "./session-words.ts";
import { oneLine, wrapped } from "./table.ts";

/** `parley switch-check`: what moving a session to a model would mean, before it is done. */
export const switchCheck: Run = (given) =>
  readably(async () => {
    const model = parseModel(given.words[0] ?? "");
    const { world, loaded } = await prepare(given);
    const session = await readNamed(await openStore(world), given.value("session"));
    const name = modelName(model);
    const input = describedInput(loaded.settings.models, name) ?? session.inputs?.[name];
    const found = await tokensOf(given, { world, session, model, input });
    const described = loaded.settings.models[name]?.context;
    const check = await checkSwitch(
      {
        journal: { ledger: spokenTo(session), blobs: session.blobs },
        head: headOf(session),
        input,
        window: {
          tokens: found.tokens,
          context: async () => described ?? factsOf(model.provider.id, model.model).context,
        },
      },
      model,
    );
    const { id, title } = summaryOf(session);
    if (given.has("json")) printJson({ session: id, counted: found.counted, ...check });
    else
      process.stdout.write(`${[`Session ${id} "${oneLine(title)}"`, ...wordsOf(check, found.counted)].join("\n")}\n`);
    return check.fits ? 0 : 1;
  });

type Asked = {
  readonly world: World;
  readonly session: ReadSession;
  readonly model: ModelRef;
  readonly input: ModelInput | undefined;
};
type Found = { readonly tokens: number; /** Whether the provider itself counted. */ readonly counted: boolean };

const tokensOf = async (given: Arguments, { world, session, model, input }: Asked): Promise<Found> => {
  if (given.has("count")) {
    const tokens = await countedBy({ world, session, model, input });
    if (tokens !== undefined) return { tokens, counted: true };
  }
  return { tokens: await sizeOf(world, session, model), counted: false };
};

/** What the provider counts; undefined, with a word on stderr, where it cannot be asked. */
const countedBy = async ({ world, session, model: { provider, model }, input }: Asked): Promise<number | undefined> => {
  const name = modelName({ provider, model });
  const { body } = composedFor(session, name, { policy: { unsupportedMedia: "stub" }, input });
  const say = (why: string): void =>
    void process.stderr.write(`parley: ${oneLine(why)} The tokens are an estimate of our own.\n`);
  try {
    const tokens = await countTokens(provider, model, body, world);
    if (tokens === undefined) say(`${provider.label} does not count tokens.`);
    return tokens;
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    say(error.message);
    return undefined;
  }
};

/** The conversation once the person says something: as it is, the word may not be with the model. */
const spokenTo = ({ entries }: ReadSession): Ledger => {
  const ledger = Ledger.from(entries);
  ledger.user([text("Go on.")]);
  return ledger;
};

const headOf = ({ head: { system }, tools = [] }: ReadSession): Parameters<typeof checkSwitch>[0]["head"] => ({
  ...(system === undefined ? {} : { system }),
  tools,
});

const wordsOf = (check: SwitchCheck, isCounted: boolean): readonly string[] => {
  const { model, known, tokens, context, fits, stubbed, thinking, others } = check;
  const share = `${isCounted ? "" : "about "}${grouped(tokens)} of ${grouped(context)} tokens`;
  return [
    `to ${oneLine(model)}${known ? "" : ", of which nothing is known here; its limits are a cautious guess"}`,
    row("context", fits ? `fits: ${share}` : `does not fit: ${share}. Compact it first, or choose a model with more.`),
    row("cache", cacheWords(check)),
    row("media", lost(stubbed, "file would be named to it and not shown", "files would be named to it and not shown")),
    row("thinking", lost(thinking, "thought would not carry over", "thoughts would not carry over")),
    ...(others.length === 0 ? [] : [row("also", tally(others))]),
  ];
};

const row = (name: string, words: string): string => wrapped(`  ${name.padEnd(9)} ${words}`, " ".repeat(12));

const cacheWords = ({ uncached, cost }: SwitchCheck): string => {
  if (uncached === 0) return "it answered last, so its cache may still hold the conversation";
  const price =
    cost === undefined ? "its price is not known" : `about $${cost < 0.01 ? cost.toFixed(4) : cost.toFixed(2)}`;
  return `${grouped(uncached)} tokens are new to it: ${price} for the next request`;
};

const lost = (notes: readonly Note[], one: string, many: string): string =>
  notes.length === 0 ? "nothing is lost" : `${notes.length} ${notes.length === 1 ? one : many}. ${tally(notes)}`;

/** Every sentence once, and how often it holds. */
const tally = (notes: readonly Note[]): string => {
  const counts = new Map<string, number>();
  for (const { message } of notes) counts.set(message, (counts.get(message) ?? 0) + 1);
  return [...counts]
    .map(([message, count]) => `${oneLine(message)}${count === 1 ? "" : ` (${counted(count, "time")})`}`)
    .join(" ");
};

const grouped = (number: number): string => number.toLocaleString("en-US");
