import { modelName, parseModel, type ModelRef } from "../../../agent/model-ref.ts";
import { single } from "../../../agent/choose-model.ts";
import type { SwitchCheck } from "../../../agent/switch-check.ts";
import { providers } from "../../../providers/all.ts";
import { modelsOf, type ModelFacts } from "../../../providers/models.ts";
import { findCredentials } from "../../../transport/credentials.ts";
import type { Option } from "../../views/picker.ts";
import type { Desk } from "../command.ts";
import { counted, dollars, tokenCount } from "./words.ts";

/** `/model`: another model from the next request on, after a look at what that means. */
export const model = async (words: string, at: Desk): Promise<void> => {
  const { agent } = at.opened();
  const chosen = words === "" ? await pickModel(at) : parseModel(words);
  if (chosen === undefined) return;
  if (modelName(chosen) === modelName(agent.model())) return at.say(`It is ${modelName(chosen)} already.`);
  const credentials = await findCredentials(chosen.provider, at.world);
  if (!credentials.found)
    return at.warn(
      `${chosen.provider.label} cannot be used yet: ${credentials.how} Still on ${modelName(agent.model())}.`,
    );
  const check = await agent.check(chosen);
  const isFresh = !agent.isUsed();
  if (!isFresh && !(await confirmed(check, at))) return;
  agent.use(single(chosen));
  at.say(`Switched to ${modelName(chosen)}. It answers the next request.`);
};

const pickModel = async (at: Desk): Promise<ModelRef | undefined> => {
  const current = modelName(at.opened().agent.model());
  const options = await modelOptions(at);
  const picked = await at.pick("Which model?", options, current);
  return picked === undefined ? undefined : parseModel(picked.id);
};

/** All models there are, those that can be used from here first. */
export const modelOptions = async ({ world, opened }: Desk): Promise<readonly Option[]> => {
  const current = modelName(opened().agent.model());
  const groups = await Promise.all(
    providers.map(async (provider) => {
      const found = await findCredentials(provider, world).catch(() => undefined);
      const rank = found?.found !== true ? 2 : found.kind === "none" ? 1 : 0;
      const known = modelsOf(provider.id);
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

const optionOf = (provider: string, { id, context, input, price }: ModelFacts): Option => ({
  id: `${provider}/${id}`,
  label: `${provider}/${id}`,
  detail: [
    tokenCount(context),
    ...input.filter((kind) => kind !== "text"),
    ...(price === undefined || price.output === 0 ? [] : [`$${price.input}/$${price.output}`]),
  ].join(" "),
});

/** Whether the person wants to move, having seen what it means. */
const confirmed = async (check: SwitchCheck, at: Desk): Promise<boolean> => {
  await at.show(checkText(check));
  const answer = await at.pick(`Go on with ${check.model}?`, [
    { id: "yes", label: "Yes, from the next request on" },
    { id: "no", label: "No, stay" },
  ]);
  return answer?.id === "yes";
};

/** What a move means, as Markdown. */
export const checkText = (check: SwitchCheck): string => {
  const { tokens, context, fits, uncached, cost, stubbed, thinking, others, known } = check;
  return [
    `**${check.model}**${known ? "" : ": nothing is known of this model, so all of this is a cautious guess"}`,
    "",
    `- ${fits ? "It fits" : "**It does not fit**"}: about ${tokenCount(tokens)} of ${tokenCount(context)} tokens.`,
    uncached === 0
      ? "- Its cache may still hold the conversation."
      : `- About ${tokenCount(uncached)} tokens are not cached there${cost === undefined ? "" : `: ${dollars(cost)} for the next request`}.`,
    ...listed("Files it would be told of, but not shown", stubbed),
    ...listed("Thinking that would not go along", thinking),
    ...(others.length === 0
      ? []
      : [
          `- ${counted(others.length, "more change")} to fit its API; /explain ${check.model} names ${others.length === 1 ? "it" : "them"}.`,
        ]),
  ].join("\n");
};

const listed = (title: string, notes: SwitchCheck["stubbed"]): readonly string[] => {
  if (notes.length === 0) return [];
  const shown = notes.slice(0, 5).map(({ message }) => `    - ${message}`);
  const more = notes.length > 5 ? [`    - and ${notes.length - 5} more`] : [];
  return [`- ${title}:`, ...shown, ...more];
};
