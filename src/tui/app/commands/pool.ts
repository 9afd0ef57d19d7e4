import { poolNamed } from "../../../agent/choose-model.ts";
import { modelName } from "../../../agent/model-name.ts";
import type { Pool } from "../../../agent/route.ts";
import type { Option } from "../../views/picker.ts";
import type { Desk } from "../command.ts";

/** `/pool`: another pool of models, from the next request on. */
export const pool = async (words: string, at: Desk): Promise<void> => {
  const { agent } = at.opened();
  const { pools } = at.loaded().settings;
  const names = Object.keys(pools);
  if (names.length === 0)
    return at.say(`${described(agent.pool())} No pools are set up; the setting "pools" holds them.`);
  const name = words === "" ? (await at.pick("Which pool?", await poolOptions(at)))?.id : words;
  if (name === undefined) return;
  if (!names.includes(name)) return at.warn(`There is no pool "${name}". There are ${names.join(", ")}.`);
  const chosen = await poolNamed(name, pools);
  agent.use(chosen);
  at.say(described(chosen));
};

/** The pools there are. */
export const poolOptions = ({ loaded }: Desk): Promise<readonly Option[]> => {
  const { pools } = loaded().settings;
  return Promise.all(
    Object.keys(pools).map(async (id) => ({ id, label: id, detail: described(await poolNamed(id, pools)) })),
  );
};

const described = ({ models, strategy }: Pool): string => {
  const names = models.map(modelName);
  if (names.length === 1) return `${names[0] ?? ""} answers alone.`;
  return strategy === "round-robin"
    ? `${names.join(", ")}: each in turn.`
    : `${names.join(", ")}: the first that works.`;
};
