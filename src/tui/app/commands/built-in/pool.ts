import { loadPool } from "../../../../agent/models/choose.ts";
import { modelName } from "../../../../agent/models/name.ts";
import type { ModelPool } from "../../../../agent/models/router.ts";
import type { PickerOption } from "../../../views/picker.ts";
import { rememberChoice } from "./model.ts";
import type { SlashCommandContext } from "../slash-command.ts";

/** `/pool`: switches the model pool from the next request. */
export const switchPool = async (words: string, at: SlashCommandContext): Promise<void> => {
  const { agent } = at.opened();
  const { pools } = at.loaded().settings;
  const names = Object.keys(pools);
  if (names.length === 0) return at.info(`${describePool(agent.pool())} No pools configured (setting "pools").`);
  const name = words === "" ? (await at.pick("Which pool?", await poolOptions(at)))?.id : words;
  if (name === undefined) return;
  if (!names.includes(name)) return at.warn(`Unknown pool "${name}". Available: ${names.join(", ")}.`);
  const { env } = at.world;
  const chosen = await loadPool(name, pools, env);
  const result = await agent.switchModel(chosen);
  if (!result.isSwitched) return at.warn(result.reason);
  at.info(`${describePool(chosen)} Used from the next request${await rememberChoice(name, at)}.`);
};

/** The pools as picker options. */
export const poolOptions = ({ loaded, world: { env } }: SlashCommandContext): Promise<readonly PickerOption[]> => {
  const { pools } = loaded().settings;
  return Promise.all(
    Object.keys(pools).map(async (id) => ({ id, label: id, detail: describePool(await loadPool(id, pools, env)) })),
  );
};

const describePool = ({ models, strategy }: ModelPool): string => {
  const names = models.map(modelName);
  if (names.length === 1) return `${names[0] ?? ""} only.`;
  return strategy === "round-robin"
    ? `${names.join(", ")}: round-robin.`
    : `${names.join(", ")}: failover in this order.`;
};
