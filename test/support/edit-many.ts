/*
 * One of several programs that edit one file: adds lines of its own, one edit after the other, and prints those that
 * were reported as done. Words: the folder, a name for its lines, how many.
 */
import { openPolicy } from "../../src/policy/open-policy.ts";
import { PolicyError } from "../../src/policy/error.ts";
import { realWorld } from "../../src/world/real/world.ts";

const [folder = "", name = "", count = "0"] = process.argv.slice(2);
const { workspace } = await openPolicy({
  world: realWorld(),
  roots: [folder],
  home: `${folder}/../home-${name}`,
  mode: "yolo",
  interactive: false,
});
const done: string[] = [];
for (let edit = 0; edit < Number(count); edit += 1) {
  const line = `${name}-${String(edit).padStart(4, "0")}`;
  for (;;)
    try {
      const { identity } = await workspace.resolve("shared.txt");
      const before = Buffer.from(await workspace.bytes("shared.txt", 2 ** 20)).toString();
      await workspace.write("shared.txt", Buffer.from(`${before}${line}\n`), identity);
      done.push(line);
      break;
    } catch (error) {
      // The other process was first: the edit was refused, not lost.
      if (!(error instanceof PolicyError) || error.type !== "file_modified_conflict") throw error;
    }
}
process.stdout.write(`${done.join("\n")}\n`);
await workspace.close();
