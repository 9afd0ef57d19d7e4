import { loadModel, modelName, type ModelRef } from "../../../../agent/models/name.ts";
import { compareModels } from "../../../../agent/models/match.ts";
import { singleModelPool } from "../../../../agent/models/choose.ts";
import { readRecentModels, recordModelChoice } from "../../../../agent/models/recent.ts";
import type { SwitchCheck } from "../../../../agent/models/switch-check.ts";
import { nearestNames } from "../../../../conversation/nearest-names.ts";
import { providers } from "../../../../providers/all.ts";
import type { Provider } from "../../../../providers/define.ts";
import { findModelFacts, listModelFacts, type ModelFacts } from "../../../../providers/models.ts";
import { setSetting } from "../../../../settings/file/write.ts";
import { findCredentials } from "../../../../transport/credentials/credentials.ts";
import { resolveBaseUrl } from "../../../../transport/endpoint.ts";
import { findLocalServers } from "../../../../transport/queries/local-servers.ts";
import type { World } from "../../../../world/world.ts";
import { alwaysListed, type PickerOption } from "../../../views/picker.ts";
import type { SlashCommandContext } from "../slash-command.ts";
import { pluralize, formatDollars, formatTokenCount } from "./format.ts";

/** `/model`: switches the model from the next request, after showing cost and compatibility. */
export const switchModel = async (words: string, at: SlashCommandContext): Promise<void> => {
  const chosen = words === "" ? await pickModel(at) : await confirmKnown(await loadModel(words, at.world.env), at);
  if (chosen !== undefined) await switchTo(chosen, at);
};

/**
 * Switches to the model after the current one in the list of favourites. One that cannot be used is skipped, and named.
 * While the question about one is open, the key goes on to the next, and from the last back to the current model.
 */
export const switchToNextFavourite = async (_: string, at: SlashCommandContext): Promise<void> => {
  const { favourites } = at.loaded().settings;
  if (favourites.length === 0)
    return at.info("No favourite models. Set them with: parley config set favourites anthropic,openai");
  const models = await Promise.all(favourites.map((name) => loadModel(name, at.world.env)));
  const current = models.findIndex((model) => modelName(model) === modelName(at.opened().agent.model()));
  const others = [...models.slice(current + 1), ...models.slice(0, Math.max(0, current))];
  let isAnyUsable = false;
  for (const [index, model] of others.entries()) {
    const problem = await findModelProblem(model, at.world);
    if (problem !== undefined) at.warn(problem);
    else if ((await switchTo(model, at, { next: others[index + 1] })) !== "next") return;
    else isAnyUsable = true;
  }
  if (!isAnyUsable) at.info("No other favourite model can be used.");
};

/** The favourite that the key for favourites goes on to; undefined after the last. */
type FavouriteCycle = { readonly next: ModelRef | undefined };

const switchTo = async (chosen: ModelRef, at: SlashCommandContext, cycle?: FavouriteCycle): Promise<void | "next"> => {
  const name = modelName(chosen);
  const current = modelName(at.opened().agent.model());
  if (name === current) return at.info(`Already using ${name}.`);
  const problem = await findModelProblem(chosen, at.world);
  if (problem !== undefined) return at.warn(`${problem} Still using ${current}.`);
  await useServerOf(chosen, at);
  const { agent } = at.opened();
  const check = await agent.checkSwitch(chosen);
  const answer = agent.hasMessages() ? await confirmSwitch(check, at, cycle) : "yes";
  if (answer === "next") return "next";
  if (answer !== "yes") return;
  const result = await agent.switchModel(singleModelPool(chosen));
  if (!result.isSwitched) return at.warn(result.reason);
  at.info(`Switched to ${name}. Used from the next request${await rememberChoice(name, at)}.`);
};

/** Remembers a model or pool for later sessions; returns what to tell the user about it. */
export const rememberChoice = async (name: string, { world, home, loaded }: SlashCommandContext): Promise<string> => {
  const isStored = await recordModelChoice(world, home.state, name);
  const { settings, sources } = loaded();
  const isInFile = sources.model?.some(({ from }) => from === "user" || from === "gemini") === true;
  if (isInFile) return `; new sessions use ${settings.model ?? ""} (setting "model")`;
  return isStored ? " and in new sessions" : "";
};

/** Why a model cannot be used; undefined if nothing is known against it. */
export const findModelProblem = async ({ provider, model }: ModelRef, world: World): Promise<string | undefined> => {
  const credentials = await findCredentials(provider, world);
  if (!credentials.found) return `${provider.label} is not ready: ${credentials.how} Or run /login ${provider.id}.`;
  if (provider.id !== "local") return undefined;
  const servers = await findLocalServers(provider, world);
  const models = servers.flatMap((server) => server.models);
  if (models.length === 0) return "No local server responds. Start Ollama, LM Studio, llama.cpp or vLLM first.";
  if (models.some((each) => each === model || each === `${model}:latest`)) return undefined;
  return `The local server has no model "${model}". It has ${models.slice(0, 10).join(", ")}.`;
};

/** Stores the URL of the local server that has a model, and opens the session again with it. */
const useServerOf = async ({ provider, model }: ModelRef, at: SlashCommandContext): Promise<void> => {
  if (provider.id !== "local") return;
  const servers = await findLocalServers(provider, at.world);
  const base = resolveBaseUrl(provider, at.world.env);
  const having = servers.filter(({ models }) => models.some((each) => each === model || each === `${model}:latest`));
  const [first] = having;
  if (first === undefined || (base.found && having.some(({ url }) => url === base.url))) return;
  await setSetting(at.world, at.home.config, "providers.local.baseUrl", first.url);
  at.info(`Local models are served by ${first.name} at ${first.url} now (setting "providers").`);
  await at.reopen({ id: at.opened().session.id });
};

/** Asks about a model that is not in the catalogue of a provider that has one: the name may be mistyped. */
const confirmKnown = async (chosen: ModelRef, at: SlashCommandContext): Promise<ModelRef | undefined> => {
  const { provider, model } = chosen;
  const known = listModelFacts(provider.id).map(({ id }) => id);
  const isFree = provider.auth.type === "none" || provider.id === "local";
  if (isFree || known.length === 0 || model === provider.defaultModel || findModelFacts(provider.id, model).known)
    return chosen;
  const near = nearestNames(model, known).slice(0, 3);
  const answer = await at.pick(`Unknown model ${modelName(chosen)}.`, [
    ...near.map((id) => ({ id, label: `${provider.id}/${id}` })),
    { id: model, label: `Use ${modelName(chosen)} anyway` },
  ]);
  return answer === undefined ? undefined : { provider, model: answer.id };
};

const pickModel = async (at: SlashCommandContext): Promise<ModelRef | undefined> => {
  const current = modelName(at.opened().agent.model());
  const picked = await pickModelOption("Which model?", await modelOptions(at), at, current);
  return picked === undefined ? undefined : loadModel(picked.id);
};

/** Opens a list of models. Its last row logs in, so that more of them can be used; nothing is picked then. */
export const pickModelOption = async (
  title: string,
  options: readonly PickerOption[],
  at: SlashCommandContext,
  focused?: string,
): Promise<PickerOption | undefined> => {
  const picked = await at.pick(title, withLoginRow(options), focused);
  if (picked?.id !== loginRow) return picked;
  const { logIn } = await import("./login.ts");
  await logIn("", at);
  return undefined;
};

/** The id of the row that stands for models without a key. */
const loginRow = "/login";

/** Adds a row for the models that only typing finds, since no key for them is known. */
const withLoginRow = (options: readonly PickerOption[]): readonly PickerOption[] => {
  const count = options.filter(({ listed }) => listed === "typed").length;
  if (count === 0) return options;
  const label = count === 1 ? "1 model cannot be used yet" : `${count} models need a key`;
  return [...options, { id: loginRow, label, detail: "/login, or type to find one", listed: "untyped" }];
};

/** All models as picker options: recent ones, the default model of each provider with a key, then the others that can be used; typing finds the rest. */
export const modelOptions = async ({ world, home, opened }: SlashCommandContext): Promise<readonly PickerOption[]> => {
  const current = modelName(opened().agent.model());
  const [recent, groups] = await Promise.all([
    readRecentModels(world, home.state),
    Promise.all(providers.map((provider) => optionsOf(provider, world))),
  ]);
  const ranked = groups.toSorted((one, other) => one.rank - other.rank);
  const all = ranked.flatMap(({ options }) => options);
  const usable = new Set(ranked.flatMap(({ rank, options }) => (rank < 2 ? options.map(({ id }) => id) : [])));
  const defaults = ranked
    .flatMap(({ rank, options }) => (rank === 0 ? options.slice(0, 1).map(({ id }) => id) : []))
    // Not a second API with the same model.
    .filter((id, at, list) => list.findIndex((each) => modelPart(each) === modelPart(id)) === at);
  const first = [current, ...recent, ...defaults].filter((id, index, list) => list.indexOf(id) === index);
  const top = first
    .filter((id) => id === current || usable.has(id))
    .map((id) => all.find((option) => option.id === id) ?? { id, label: id })
    .map(alwaysListed);
  return [...top, ...all.filter(({ id }) => !top.some((each) => each.id === id))];
};

const modelPart = (id: string): string => id.slice(id.indexOf("/") + 1);

/** The models of one provider: its default model, then the highest versions. Rank 0 is ready, 1 needs nothing, 2 cannot be used. */
const optionsOf = async (
  provider: Provider,
  world: World,
): Promise<{ readonly rank: number; readonly options: readonly PickerOption[] }> => {
  if (provider.id === "local") return localOptions(provider, world);
  const found = await findCredentials(provider, world).catch(() => undefined);
  const rank = found?.found !== true ? 2 : found.kind === "none" ? 1 : 0;
  const { id, defaultModel } = provider;
  const known = listModelFacts(id);
  const first = known.find((facts) => facts.id === defaultModel);
  const options = [
    first === undefined ? { id: `${id}/${defaultModel}`, label: `${id}/${defaultModel}` } : optionOf(id, first),
    ...known
      .filter((facts) => facts !== first)
      .toSorted((one, other) => compareModels(one.id, other.id))
      .map((facts) => optionOf(id, facts)),
  ];
  if (rank < 2) return { rank, options };
  return { rank, options: options.map((each) => ({ ...each, detail: "no key", listed: "typed" as const })) };
};

/** The models that servers on this machine list. */
const localOptions = async (
  provider: Provider,
  world: World,
): Promise<{ readonly rank: number; readonly options: readonly PickerOption[] }> => {
  const servers = await findLocalServers(provider, world);
  const options = servers.flatMap(({ name, models }) =>
    models.map((model) => ({ id: `local/${model}`, label: `local/${model}`, detail: name })),
  );
  if (options.length > 0) return { rank: 0, options };
  const id = `local/${provider.defaultModel}`;
  return { rank: 2, options: [{ id, label: id, detail: "no local server runs", listed: "typed" }] };
};

const optionOf = (provider: string, { id, context, input, price }: ModelFacts): PickerOption => ({
  id: `${provider}/${id}`,
  label: `${provider}/${id}`,
  // What is cut off in a narrow terminal comes last.
  detail: [
    formatTokenCount(context),
    ...(price === undefined || price.output === 0 ? [] : [`$${price.input}/$${price.output}`]),
    ...input.filter((kind) => kind !== "text"),
  ].join(" "),
});

/** Shows the switch check and asks for confirmation. */
const confirmSwitch = async (
  check: SwitchCheck,
  at: SlashCommandContext,
  cycle: FavouriteCycle | undefined,
): Promise<string | undefined> => {
  await at.printMarkdown(switchCheckText(check));
  const isLast = cycle !== undefined && cycle.next === undefined;
  const answer = await at.pick(`Switch to ${check.model}?`, [
    { id: "yes", label: "Yes, from the next request" },
    ...(cycle?.next === undefined
      ? []
      : [{ id: "next", label: "Next favourite", detail: modelName(cycle.next), chord: favouriteChord }]),
    { id: "no", label: "No, stay", ...(isLast ? { chord: favouriteChord } : {}) },
  ]);
  return answer?.id;
};

/** The chord of the action `next-favourite`. */
const favouriteChord = "alt+m";

/** Formats a switch check as Markdown. */
export const switchCheckText = (check: SwitchCheck): string => {
  const { tokens, context, fits, uncached, cost, stubbed, thinking, others, known } = check;
  return [
    `**${check.model}**${known ? "" : ": unknown model, so these are cautious estimates"}`,
    "",
    `- ${fits ? "It fits" : "**It does not fit**"}: about ${formatTokenCount(tokens)} of ${formatTokenCount(context)} tokens.`,
    uncached === 0
      ? "- The prompt cache may still hold the conversation."
      : `- About ${formatTokenCount(uncached)} tokens are not cached${cost === undefined ? "" : `: ${formatDollars(cost)} for the next request`}.`,
    ...listNotes("Media it cannot take (replaced by a text)", stubbed),
    ...listNotes("Thinking that would be left out", thinking),
    ...(others.length === 0
      ? []
      : [`- ${pluralize(others.length, "more change")} to fit its API; see /explain ${check.model}.`]),
  ].join("\n");
};

const listNotes = (title: string, notes: SwitchCheck["stubbed"]): readonly string[] => {
  if (notes.length === 0) return [];
  const shown = notes.slice(0, 5).map(({ message }) => `    - ${message}`);
  const more = notes.length > 5 ? [`    - and ${notes.length - 5} more`] : [];
  return [`- ${title}:`, ...shown, ...more];
};
