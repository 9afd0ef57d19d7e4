/*
 * Begins to write a file of a workspace and is killed before the temporary file is renamed. Arguments: the folder, the
 * path.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const [folder = "", path = ""] = process.argv.slice(2);
fs.fdatasync = Object.assign(() => process.kill(process.pid, "SIGKILL"), fs.fdatasync);
syncBuiltinESMExports();
const { openPolicy } = await import("../../src/policy/open-policy.ts");
const { realWorld } = await import("../../src/world/real/world.ts");
const { workspace } = await openPolicy({
  world: realWorld(),
  roots: [folder],
  home: `${folder}/../killed`,
  mode: "yolo",
  interactive: false,
});
await workspace.write(path, Buffer.from("half a file"), "absent");
