import type { SessionConfigOption, SessionModeState } from "@agentclientprotocol/sdk";
import { modelName } from "../agent/models/name.ts";
import type { ModelRef } from "../agent/models/name.ts";
import { approvalModes, type ApprovalMode } from "../policy/gate/approval-mode.ts";
import { lazyProviders } from "../providers/lazy.data.ts";
import { listModelFacts } from "../providers/models.ts";
import type { Settings } from "../settings/schema/values.ts";
import type { Environment } from "../world/world.ts";

/** How much a model thinks: a level, or the model's own default. */
export type ThoughtLevel = NonNullable<Settings["thinking"]> | "default";

/** The choices of a session that a client can show and change. */
export type SessionConfig = {
  readonly mode: ApprovalMode;
  readonly model: string;
  readonly thoughtLevel: ThoughtLevel;
  readonly models: readonly ModelGroup[];
};

/** The models of one provider, as `provider/model`. */
export type ModelGroup = { readonly provider: string; readonly models: readonly string[] };

const modeNames: Readonly<Record<ApprovalMode, readonly [name: string, description: string]>> = {
  plan: ["Plan", "Read-only; denies everything else"],
  default: ["Ask", "Reads without asking, asks for the rest"],
  auto_edit: ["Auto edit", "Also edits without asking; asks for commands"],
  yolo: ["Yolo", "Runs everything without asking, except outside the workspace"],
};

const thoughtLevels: readonly ThoughtLevel[] = ["default", "none", "low", "medium", "high"];

export const isThoughtLevel = (value: unknown): value is ThoughtLevel => thoughtLevels.some((level) => level === value);

/** The approval modes, for clients without config options. */
export const describeModes = ({ mode }: SessionConfig): SessionModeState => ({
  currentModeId: mode,
  availableModes: approvalModes.map((id) => ({ id, name: modeNames[id][0], description: modeNames[id][1] })),
});

/** The config options, the most important first. */
export const describeConfig = ({ mode, model, thoughtLevel, models }: SessionConfig): SessionConfigOption[] => [
  {
    id: "mode",
    name: "Approval mode",
    description: "What runs without asking",
    category: "mode",
    type: "select",
    currentValue: mode,
    options: approvalModes.map((value) => ({ value, name: modeNames[value][0], description: modeNames[value][1] })),
  },
  {
    id: "model",
    name: "Model",
    description: "Used from the next request; the conversation is kept",
    category: "model",
    type: "select",
    currentValue: model,
    options: models.map((group) => ({
      group: group.provider,
      name: group.provider,
      options: group.models.map((value) => ({ value, name: value.slice(group.provider.length + 1) })),
    })),
  },
  {
    id: "thought_level",
    name: "Thinking",
    description: "How much the model thinks before it answers",
    category: "thought_level",
    type: "select",
    currentValue: thoughtLevel,
    options: thoughtLevels.map((value) => ({ value, name: value[0]?.toUpperCase() + value.slice(1) })),
  },
];

/** The models for clients that know neither config options nor groups. */
export const describeModels = ({ model, models }: SessionConfig): object => ({
  currentModelId: model,
  availableModels: models.flatMap((group) => group.models.map((modelId) => ({ modelId, name: modelId }))),
});

/**
 * The models a client can choose from: those of the session's pool, and those of every provider whose key is in the
 * environment. The demo model is offered where nothing else is.
 */
export const listModels = (pool: readonly ModelRef[], env: Environment): readonly ModelGroup[] => {
  const ready = lazyProviders.flatMap(({ id, keys }) =>
    keys.some((key) => (env[key] ?? "") !== "") ? listModelFacts(id).map((facts) => `${id}/${facts.id}`) : [],
  );
  const names = [...new Set([...pool.map(modelName), ...ready])];
  const providers = [...new Set(names.map(providerOf))];
  return providers.map((provider) => ({ provider, models: names.filter((name) => providerOf(name) === provider) }));
};

export const providerOf = (model: string): string => model.slice(0, model.indexOf("/"));
