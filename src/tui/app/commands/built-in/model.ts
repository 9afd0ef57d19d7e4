import { modelName, parseModel, type ModelRef } from "../../../../agent/models/parse.ts";
import { singleModelPool } from "../../../../agent/models/choose.ts";
import type { SwitchCheck } from "../../../../agent/models/switch-check.ts";
import { providers } from "../../../../providers/all.ts";
import { listModelFacts, type ModelFacts } from "../../../../providers/models.ts";
import { findCredentials } from "../../../../transport/credentials/credentials.ts";
import type { PickerOption } from "../../../views/picker.ts";
import type { SlashCommandContext } from "../slash-command.ts";
import { pluralize, formatDollars, formatTokenCount } from "./format.ts";

/** `/model`: switches the model from the next request, after showing cost and compatibility. */
export const switchModel = async (words: string, at: SlashCommandContext): Promise<void> => {
  const { agent } = at.opened();
  const chosen = words === "" ? await pickModel(at) : parseModel(words);
  if (chosen === undefined) return;
  if (modelName(chosen) === modelName(agent.model())) return at.info(`Already using ${modelName(chosen)}.`);
  const credentials = await findCredentials(chosen.provider, at.world);
  if (!credentials.found)
    return at.warn(
      `${chosen.provider.label} is not ready: ${credentials.how} Still using ${modelName(agent.model())}.`,
    );
  const check = await agent.checkSwitch(chosen);
  const isFresh = !agent.hasMessages();
  if (!isFresh && !(await confirmSwitch(check, at))) return;
  agent.switchModel(singleModelPool(chosen));
  at.info(`Switched to ${modelName(chosen)}. Used from the next request.`);
};

const pickModel = async (at: SlashCommandContext): Promise<ModelRef | undefined> => {
  const current = modelName(at.opened().agent.model());
  const options = await modelOptions(at);
  const picked = await at.pick("Which model?", options, current);
  return picked === undefined ? undefined : parseModel(picked.id);
};

/** All models as picker options, usable ones first. */
export const modelOptions = async ({ world, opened }: SlashCommandContext): Promise<readonly PickerOption[]> => {
  const current = modelName(opened().agent.model());
  const groups = await Promise.all(
    providers.map(async (provider) => {
      const found = await findCredentials(provider, world).catch(() => undefined);
      const rank = found?.found !== true ? 2 : found.kind === "none" ? 1 : 0;
      const known = listModelFacts(provider.id);
      const own = known.some(({ id }) => id === provider.defaultModel)
        ? []
        : [{ id: `${provider.id}/${provider.defaultModel}`, label: `${provider.id}/${provider.defaultModel}` }];
      const options = [...own, ...known.map((facts) => optionOf(provider.id, facts))];
      return { rank, options: rank === 2 ? options.map((each) => ({ ...each, detail: "no key" })) : options };
    }),
  );
  const all = groups.toSorted((one, other) => one.rank - other.rank).flatMap(({ options }) => options);
  return all.some(({ id }) => id === current) ? all : [{ id: current, label: current }, ...all];
};

const optionOf = (provider: string, { id, context, input, price }: ModelFacts): PickerOption => ({
  id: `${provider}/${id}`,
  label: `${provider}/${id}`,
  detail: [
    formatTokenCount(context),
    ...input.filter((kind) => kind !== "text"),
    ...(price === undefined || price.output === 0 ? [] : [`$${price.input}/$${price.output}`]),
  ].join(" "),
});

/** Shows the switch check and asks for confirmation. */
const confirmSwitch = async (check: SwitchCheck, at: SlashCommandContext): Promise<boolean> => {
  await at.printMarkdown(switchCheckText(check));
  const answer = await at.pick(`Switch to ${check.model}?`, [
    { id: "yes", label: "Yes, from the next request" },
    { id: "no", label: "No, stay" },
  ]);
  return answer?.id === "yes";
};

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
