import { checkSessionSwitch } from "../../agent/models/session-switch-check.ts";
import type { SwitchCheck } from "../../agent/models/switch-check.ts";
import { estimateSessionTokens } from "../../agent/context-window/session-tokens.ts";
import { inputFromSettings } from "../../agent/models/input.ts";
import { modelName, parseModel, type ModelRef } from "../../agent/models/parse.ts";
import type { Note } from "../../conversation/notes.ts";
import type { ModelInput } from "../../providers/model-input.ts";
import type { ReadSession } from "../../session/store/store.ts";
import { summarizeSession } from "../../session/store/summary.ts";
import { countTokens } from "../../transport/queries/count-tokens.ts";
import { ProviderError } from "../../transport/failure.ts";
import type { World } from "../../world/world.ts";
import type { Arguments, CommandHandler } from "../command.ts";
import { loadRunEnvironment } from "../run-environment.ts";
import { composeSessionRequest } from "./compose-request.ts";
import { openSessionsContext, withUserErrors, readSession } from "./context.ts";
import { pluralize, printJson } from "../format.ts";
import { sanitizeLine, wrapText } from "../text-table.ts";

/** `parley switch-check`: prints what switching a session to a model would cost and lose. */
export const switchCheck: CommandHandler = (args) =>
  withUserErrors(async () => {
    const model = parseModel(args.positionals[0] ?? "");
    const { world, loaded } = await loadRunEnvironment(args);
    const session = await readSession(await openSessionsContext(world), args.value("session"));
    const name = modelName(model);
    const input = inputFromSettings(loaded.settings.models, name) ?? session.inputs?.[name];
    const count = await countOrEstimate(args, { world, session, model, input });
    const check = await checkSessionSwitch(session, model, {
      tokens: count.tokens,
      input,
      context: loaded.settings.models[name]?.context,
      price: loaded.settings.models[name]?.price,
    });
    const { id, title } = summarizeSession(session);
    if (args.has("json")) printJson({ session: id, counted: count.counted, ...check });
    else
      process.stdout.write(
        `${[`Session ${id} "${sanitizeLine(title)}"`, ...describeCheck(check, count.counted)].join("\n")}\n`,
      );
    return check.fits ? 0 : 1;
  });

type TokenCountRequest = {
  readonly world: World;
  readonly session: ReadSession;
  readonly model: ModelRef;
  readonly input: ModelInput | undefined;
};
type TokenCount = { readonly tokens: number; /** Whether the provider counted. */ readonly counted: boolean };

const countOrEstimate = async (
  args: Arguments,
  { world, session, model, input }: TokenCountRequest,
): Promise<TokenCount> => {
  if (args.has("count")) {
    const tokens = await countAtProvider({ world, session, model, input });
    if (tokens !== undefined) return { tokens, counted: true };
  }
  return { tokens: await estimateSessionTokens(world, session, model), counted: false };
};

/** Has the provider count the tokens. Resolves to undefined, with a message on stderr, if it cannot. */
const countAtProvider = async ({
  world,
  session,
  model: { provider, model },
  input,
}: TokenCountRequest): Promise<number | undefined> => {
  const name = modelName({ provider, model });
  const { body } = composeSessionRequest(session, name, { policy: { unsupportedMedia: "stub" }, input });
  const warn = (reason: string): void =>
    void process.stderr.write(`parley: ${sanitizeLine(reason)} Using an estimate.\n`);
  try {
    const tokens = await countTokens(provider, model, body, world);
    if (tokens === undefined) warn(`${provider.label} does not count tokens.`);
    return tokens;
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    warn(error.message);
    return undefined;
  }
};

const describeCheck = (check: SwitchCheck, isCounted: boolean): readonly string[] => {
  const { model, known, tokens, context, fits, stubbed, thinking, others } = check;
  const share = `${isCounted ? "" : "about "}${formatNumber(tokens)} of ${formatNumber(context)} tokens`;
  return [
    `to ${sanitizeLine(model)}${known ? "" : ", an unknown model; its limits are conservative defaults"}`,
    formatRow(
      "context",
      fits ? `fits: ${share}` : `does not fit: ${share}. Compact it first, or choose a model with more.`,
    ),
    formatRow("cache", describeCacheCost(check)),
    formatRow(
      "media",
      describeLosses(stubbed, "file would be described, not sent", "files would be described, not sent"),
    ),
    formatRow("thinking", describeLosses(thinking, "thought would not carry over", "thoughts would not carry over")),
    ...(others.length === 0 ? [] : [formatRow("also", countMessages(others))]),
  ];
};

const formatRow = (name: string, text: string): string => wrapText(`  ${name.padEnd(9)} ${text}`, " ".repeat(12));

const describeCacheCost = ({ uncached, cost }: SwitchCheck): string => {
  if (uncached === 0) return "last used model, so its prompt cache may still hold the conversation";
  const price = cost === undefined ? "unknown price" : `about $${cost < 0.01 ? cost.toFixed(4) : cost.toFixed(2)}`;
  return `${formatNumber(uncached)} uncached tokens: ${price} for the next request`;
};

const describeLosses = (notes: readonly Note[], singular: string, plural: string): string =>
  notes.length === 0
    ? "nothing lost"
    : `${notes.length} ${notes.length === 1 ? singular : plural}. ${countMessages(notes)}`;

/** Joins the messages, each once, with its count. */
const countMessages = (notes: readonly Note[]): string => {
  const counts = new Map<string, number>();
  for (const { message } of notes) counts.set(message, (counts.get(message) ?? 0) + 1);
  return [...counts]
    .map(([message, count]) => `${sanitizeLine(message)}${count === 1 ? "" : ` (${pluralize(count, "time")})`}`)
    .join(" ");
};

const formatNumber = (number: number): string => number.toLocaleString("en-US");
