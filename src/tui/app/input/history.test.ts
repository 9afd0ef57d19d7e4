import { describe, expect, it } from "vitest";
import { simulatedWorld } from "../../../world/simulated/world.ts";
import { createInputHistory } from "./history.ts";

const home = "/home/you/.parley";

describe("the input history", () => {
  it("is kept per project, without repetitions and without prompts that hold a secret", async () => {
    const { files } = simulatedWorld();
    const [one, other] = [createInputHistory({ files }, home, "/one"), createInputHistory({ files }, home, "/other")];
    for (const each of ["first", "first", "export KEY=sk-ant-REDACTED", "token=abcdef1234567890", "last"])
      one.add(each);
    await one.flush();
    expect([await createInputHistory({ files }, home, "/one").read(), await other.read()]).toEqual([
      ["first", "last"],
      [],
    ]);
  });

  it("is bounded in number and size, and starts with the one all projects had", async () => {
    const { files } = simulatedWorld();
    await files.writePrivate(`${home}/history.json`, JSON.stringify(["old"]));
    const history = createInputHistory({ files }, home, "/project");
    expect(await history.read()).toEqual(["old"]);
    for (let at = 0; at < 600; at++) history.add(`prompt ${at}`);
    history.add("x".repeat(60_000));
    await history.flush();
    const kept = await history.read();
    expect([kept.length, kept[0], kept.at(-1)]).toEqual([500, "prompt 100", "prompt 599"]);
    for (let at = 0; at < 20; at++) history.add(`${at}${"y".repeat(40_000)}`);
    await history.flush();
    expect((await history.read()).length).toBe(12);
  });

  it("is empty if its file is damaged", async () => {
    const { files } = simulatedWorld();
    await files.writePrivate(`${home}/history.json`, "{");
    expect(await createInputHistory({ files }, home, "/project").read()).toEqual([]);
  });
});
