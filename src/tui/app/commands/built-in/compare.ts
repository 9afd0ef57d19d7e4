import { compareModels, type ComparedTurn } from "../../../../agent/compare/compare-models.ts";
import { describeTurnCost } from "../../../../agent/compare/describe-turn.ts";
import type { AgentEvent } from "../../../../agent/events.ts";
import { singleModelPool } from "../../../../agent/models/choose.ts";
import { modelName, parseModel, type ModelRef } from "../../../../agent/models/parse.ts";
import { UnknownNameError } from "../../../../providers/unknown-name.ts";
import { span, truncate } from "../../../text/line.ts";
import type { StyledLine } from "../../../text/style.ts";
import { viewComparison } from "../../../views/comparison.ts";
import { subagentText } from "../../transcript/event-text.ts";
import { promptText } from "../../transcript/session-history.ts";
import { createFork } from "./rewind.ts";
import { openSessionStore } from "../../../../session/store/store.ts";
import { loadModel } from "../../../../agent/models/name.ts";
import type { SlashCommandContext } from "../slash-command.ts";
import { modelOptions, pickModelOption } from "./model.ts";

const maxModels = 3;

/** `/compare`: the same prompt on two or three models, from here; continues with the answer the user chooses. */
export const compareAnswers = async (args: string, at: SlashCommandContext): Promise<void> => {
  const { named, prompt } = await parseCompareArguments(args, at);
  const question = prompt === "" ? await lastPrompt(at) : { prompt, place: undefined };
  if (question === undefined) return at.info("No prompt yet. Add one: /compare [MODEL,MODEL...] PROMPT");
  const models = await chooseModels(named, at);
  if (models === undefined) return;
  at.info(
    `Comparing ${models.map(modelName).join(", ")}. Only read-only tools run in this turn; other calls are refused.`,
  );
  const turns = await runComparison(models, question, at);
  at.print(await viewComparison(turns.map(toView), at.width(), at.renderMarkdown));
  await keepOne(turns, at);
};

/** A prompt to compare; `place` is its entry in this session if it was asked before. */
type ComparedPrompt = { readonly prompt: string; readonly place: number | undefined };

/** The last prompt of this session. */
const lastPrompt = async (at: SlashCommandContext): Promise<ComparedPrompt | undefined> => {
  const { entries } = await openSessionStore(at.world, { home: at.home.data }).read(at.opened().session.id);
  const place = entries.findLastIndex((entry) => entry.type === "user");
  const entry = entries[place];
  return entry?.type === "user" ? { prompt: promptText(entry.parts), place } : undefined;
};

/**
 * Splits the arguments: models are the leading words with a known provider, or short names joined by commas in the first
 * word; the rest is the prompt.
 */
const parseCompareArguments = async (
  args: string,
  at: SlashCommandContext,
): Promise<{ readonly named: readonly ModelRef[]; readonly prompt: string }> => {
  const [first = ""] = args.trim().split(/\s/, 1);
  const named: ModelRef[] = [];
  let rest = args.trim();
  if (/^[^\s,]+(?:,[^\s,]+)+$/.test(first)) {
    const models = await Promise.all(first.split(",").map((name) => loadModel(name, at.world.env)));
    return { named: models, prompt: rest.slice(first.length).trim() };
  }
  for (;;) {
    const [word = ""] = rest.split(/\s/, 1);
    const model = word.includes("/") ? findModel(word) : undefined;
    if (model === undefined) return { named, prompt: rest };
    named.push(model);
    rest = rest.slice(word.length).trim();
  }
};

const findModel = (name: string): ModelRef | undefined => {
  try {
    return parseModel(name);
  } catch (error) {
    if (error instanceof UnknownNameError) return undefined;
    throw error;
  }
};

/** The models to compare: two or three. With fewer named, the current one is the first, and the user picks others. */
const chooseModels = async (
  named: readonly ModelRef[],
  at: SlashCommandContext,
): Promise<readonly ModelRef[] | undefined> => {
  const different = withoutRepeats(named);
  if (named.length >= 2 && (different.length < 2 || different.length > maxModels)) {
    at.warn("Name two or three different models: /compare MODEL,MODEL[,MODEL] [PROMPT]");
    return undefined;
  }
  if (different.length >= 2) return different;
  const current = at.opened().agent.model();
  const chosen = withoutRepeats([current, ...named]);
  if (chosen.length >= 2) return chosen;
  const options = (await modelOptions(at)).filter(({ id }) => id !== modelName(current));
  const second = await pickModelOption(`Compare ${modelName(current)} with which model?`, options, at);
  if (second === undefined) return undefined;
  const others = options.filter(({ id }) => id !== second.id);
  const third = await at.pick("And a third?", [{ id: "", label: "No, compare these two" }, ...others]);
  if (third === undefined) return undefined;
  return [current, parseModel(second.id), ...(third.id === "" ? [] : [parseModel(third.id)])];
};

const withoutRepeats = (models: readonly ModelRef[]): readonly ModelRef[] => [
  ...new Map(models.map((model) => [modelName(model), model])).values(),
];

/** Runs the turns and shows what each model does meanwhile. */
const runComparison = (
  models: readonly ModelRef[],
  { prompt, place }: ComparedPrompt,
  at: SlashCommandContext,
): Promise<readonly ComparedTurn[]> => {
  const { world, home, folder } = at;
  const activities = new Map(models.map((model) => [modelName(model), "waiting"]));
  const onEvent = (model: string, event: AgentEvent): void => {
    const activity = isEnd(event) ? "done" : subagentText(event);
    if (activity !== undefined) activities.set(model, activity);
  };
  const live = (): readonly StyledLine[] =>
    [...activities].map(([model, activity]) =>
      truncate([span(`${model}: `, { tone: "accent" }), span(activity, { tone: "muted" })], at.width()),
    );
  const environment = { world, home, folder, loaded: at.loaded() };
  return at.runWork({ label: "Comparing", live }, async (signal) => {
    const fork = place === undefined ? undefined : await createFork(place, at);
    const session = fork ?? at.opened().session.id;
    try {
      return await compareModels({ environment, session, prompt, models, onEvent }, signal);
    } finally {
      if (fork !== undefined) await openSessionStore(world, { home: home.data }).remove(fork);
    }
  });
};

const isEnd = ({ type }: AgentEvent): boolean => type === "finished" || type === "failed" || type === "cancelled";

const toView = (turn: ComparedTurn): Parameters<typeof viewComparison>[0][number] => ({
  model: modelName(turn.model),
  stats: describeTurnCost(turn),
  calls: turn.calls.map(({ tool, title, status }) => ({ text: `${tool} ${title}`.trim(), status })),
  text: turn.text,
  ...(turn.problem === undefined ? {} : { problem: turn.problem }),
});

/** Asks which answer to continue with. All of them stay as sessions. */
const keepOne = async (turns: readonly ComparedTurn[], at: SlashCommandContext): Promise<void> => {
  const saved = turns.flatMap(({ session, ...turn }) => (session === undefined ? [] : [{ ...turn, session }]));
  if (saved.length === 0) return at.warn("No model answered.");
  const picked = await at.pick("Continue with which answer?", [
    ...saved.map((turn) => ({ id: turn.session, label: modelName(turn.model), detail: describeTurnCost(turn) })),
    { id: "", label: "None: stay in this session" },
  ]);
  const kept = saved.find(({ session }) => session === picked?.id);
  if (kept !== undefined) {
    await at.reopen({ id: kept.session });
    const { agent } = at.opened();
    // Settings or flags may name another model.
    if (modelName(agent.model()) !== modelName(kept.model)) {
      const result = await agent.switchModel(singleModelPool(kept.model));
      if (!result.isSwitched) at.warn(result.reason);
    }
  }
  const others = saved.filter((turn) => turn !== kept);
  const list = others.map(({ model, session }) => `${modelName(model)}: /resume ${session}`);
  at.info(
    [
      ...(kept === undefined ? [] : [`Continuing with ${modelName(kept.model)}.`]),
      ...(list.length === 0 ? [] : [`Kept as sessions: ${list.join(", ")}`]),
    ].join(" "),
  );
};
