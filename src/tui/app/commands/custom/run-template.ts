import { singleModelPool } from "../../../../agent/models/choose.ts";
import { loadModel, modelName } from "../../../../agent/models/name.ts";
import {
  formatPermissionRule,
  parsePermissionRule,
  type PermissionRule,
} from "../../../../policy/gate/permission-rules.ts";
import type { PromptCommand, PromptCommandContext } from "../slash-command.ts";
import { fillTemplate, type PromptTemplate } from "./prompt-template.ts";

/** The options of a command file. */
export type TemplateOptions = {
  /** The model of its turn: `provider/model`, or a name such as `sonnet`. */
  readonly model?: string;
  /** The tool calls that its author wants to run without approval. They grant nothing without the person's consent. */
  readonly allowedTools?: readonly string[];
  /** Fields without effect. */
  readonly notes: readonly string[];
};

/** Returns the function that runs a command file: fills its prompt and sends it, on its model and with the rules agreed to. */
export const runTemplate = (template: PromptTemplate, options: TemplateOptions): PromptCommand["run"] => {
  let isFirstRun = true;
  let refusesTools = false;
  return async (words, at) => {
    if (isFirstRun) for (const note of options.notes) at.info(`/${template.name}: ${note}.`);
    isFirstRun = false;
    const rules = refusesTools ? [] : await confirmTools(template.name, options.allowedTools ?? [], at);
    refusesTools = rules.length === 0;
    const text = await fillTemplate(template, words, at);
    if (text === undefined) return;
    const restoreModel = await switchForTurn(template.name, options.model, at);
    const removeRules = await addRules(rules, at);
    try {
      await at.send(text);
    } finally {
      await removeRules();
      await restoreModel();
    }
  };
};

/** Asks once whether the rules of a command may hold for its turn. Returns those agreed to. */
const confirmTools = async (
  name: string,
  allowedTools: readonly string[],
  at: PromptCommandContext,
): Promise<readonly PermissionRule[]> => {
  if (allowedTools.length === 0) return [];
  const rules = allowedTools.flatMap((text) => parsePermissionRule(text) ?? []);
  const unknown = allowedTools.filter((text) => parsePermissionRule(text) === undefined);
  if (unknown.length > 0) at.info(`/${name}: allowed-tools has rules Parley does not know: ${unknown.join(", ")}.`);
  if (rules.length === 0) return [];
  const texts = rules.map(formatPermissionRule).join(", ");
  const answer = await at.confirm(`/${name} asks to run these without approval: ${texts}`, [
    { id: "no", label: "Ask as usual", detail: "for this session" },
    { id: "yes", label: "Allow them for this turn" },
  ]);
  return answer?.id === "yes" ? rules : [];
};

/** Adds allow rules, and returns the function that removes them again. Rules that hold already stay. */
const addRules = async (rules: readonly PermissionRule[], at: PromptCommandContext): Promise<() => Promise<void>> => {
  if (rules.length === 0) return async () => undefined;
  const { gate } = await at.opened().services();
  const held = new Set(
    (await gate.listRules()).filter(({ list }) => list === "allow").map(({ rule }) => formatPermissionRule(rule)),
  );
  const added = rules.filter((rule) => !held.has(formatPermissionRule(rule)));
  for (const rule of added) await gate.addRule(rule, { list: "allow", scope: "session", isForTurn: true });
  return async () => {
    for (const rule of added) await gate.removeRule({ list: "allow", scope: "session", rule });
  };
};

/** Switches to the model of a command, and returns the function that switches back. Without a usable model it says so. */
const switchForTurn = async (
  name: string,
  model: string | undefined,
  at: PromptCommandContext,
): Promise<() => Promise<void>> => {
  if (model === undefined) return async () => undefined;
  const { agent } = at.opened();
  const current = modelName(agent.model());
  if (!at.sendsWholeTurn) {
    at.info(`/${name}: its model ${model} is not used here; using ${current}.`);
    return async () => undefined;
  }
  try {
    const chosen = await loadModel(model, at.world.env);
    if (modelName(chosen) === current) return async () => undefined;
    const { findModelProblem } = await import("../built-in/model.ts");
    const problem = await findModelProblem(chosen, at.world);
    if (problem !== undefined) throw new Error(problem);
    const before = agent.pool();
    const result = await agent.switchModel(singleModelPool(chosen));
    if (!result.isSwitched) throw new Error(result.reason);
    at.info(`/${name} uses ${modelName(chosen)} for this turn.`);
    return async () => {
      if (modelName(agent.model()) !== modelName(chosen)) return;
      const back = await agent.switchModel(before);
      if (!back.isSwitched) at.warn(back.reason);
    };
  } catch (error) {
    at.info(
      `/${name}: its model ${model} cannot be used, so ${current} answers. ${error instanceof Error ? error.message : ""}`,
    );
    return async () => undefined;
  }
};
