import { writeSync } from "node:fs";
import { openSessionStore } from "../../../src/session/store/store.ts";
import { realWorld } from "../../../src/world/real/world.ts";
import { createScript } from "./script.ts";

/* HOME SEED [ID]: acts a script out on the real disk, in a new session or in one that is there, and tells what was acknowledged. */
const [home = "", seed = "1", known] = process.argv.slice(2);
const { start, actions: acts } = createScript(Number(seed));
const tell = (line: string): void => void writeSync(1, `${line}\n`);

const sessions = openSessionStore(realWorld(), { home });
let session = await (known === undefined ? sessions.create(start) : sessions.open(known));
let acknowledged = known === undefined ? (start.records ?? []).length : 0;
tell(`open ${session.id}`);
tell(`ack ${acknowledged}`);
for (const act of acts) {
  switch (act.type) {
    case "keep":
      await session.storeBlobs(act.blobs);
      break;
    case "reopen":
      await session.close();
      session = await sessions.open(session.id);
      break;
    case "write": {
      const { append: write } = session;
      await Promise.all(
        act.writes.map(async (records) => {
          await write(records);
          acknowledged += records.length;
          tell(`ack ${acknowledged}`);
        }),
      );
    }
  }
}
tell("done");
await session.close();
