/*
 * One of several programs that change settings at the same time: adds pools of its own, one after the other. Arguments:
 * Parley's folder, the first part of their names, how many.
 */
import { setSetting } from "../../src/settings/file/write.ts";
import { realWorld } from "../../src/world/real/world.ts";

const [home = "", name = "", count = "0"] = process.argv.slice(2);
for (let at = 0; at < Number(count); at += 1)
  await setSetting(realWorld(), home, `pools.${name}${at}`, { models: ["x/y"] });
