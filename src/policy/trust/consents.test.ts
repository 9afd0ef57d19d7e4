import { mkdir, mkdtemp, readdir, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createRealDisk } from "../../world/real/disk/disk.ts";
import { openConsentStore } from "./consents.ts";
import { parseProjectSettings, type ConsentRequest } from "./project-settings.ts";

const realDisk = createRealDisk();

let base: string;

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "parley-consents-")));
  for (const folder of ["home", "project", "other"]) await mkdir(join(base, folder));
});

afterEach(() => rm(base, { recursive: true, force: true }));

const consents = () => openConsentStore(realDisk, join(base, "home", ".parley"));
const project = () => join(base, "project");
const wantedBy = async (settings: object): Promise<readonly ConsentRequest[]> =>
  (await parseProjectSettings(JSON.stringify(settings))).consents;
const one = async (settings: object): Promise<ConsentRequest> => {
  const [first] = await wantedBy(settings);
  if (first === undefined) throw new Error("There is no program in it.");
  return first;
};
const server = { mcpServers: { x: { command: "node", args: ["a.js"], env: { A: "1" } } } };

describe("consent to a program of a project", () => {
  it("is missing until it is given", async () => {
    const [both] = [await wantedBy({ ...server, hooks: { SessionStart: "touch x" } })];
    expect(await consents().findMissing(project(), both)).toEqual(both);
    await consents().agree(project(), both[0] as ConsentRequest);
    expect(await consents().findMissing(project(), both)).toEqual(both.slice(1));
  });

  it.each([
    ["another argument", { mcpServers: { x: { command: "node", args: ["b.js"], env: { A: "1" } } } }],
    ["another variable", { mcpServers: { x: { command: "node", args: ["a.js"], env: { A: "2" } } } }],
    ["another name", { mcpServers: { y: { command: "node", args: ["a.js"], env: { A: "1" } } } }],
    ["one thing more", { mcpServers: { x: { command: "node", args: ["a.js"], env: { A: "1" }, cwd: "/" } } }],
  ])("is missing again after a change: %s", async (_, changed) => {
    await consents().agree(project(), await one(server));
    expect(await consents().findMissing(project(), await wantedBy(changed))).toEqual(await wantedBy(changed));
  });

  it("holds for one project only", async () => {
    await consents().agree(project(), await one(server));
    expect(await consents().findMissing(join(base, "other"), await wantedBy(server))).toEqual(await wantedBy(server));
    expect(await consents().findMissing(join(base, "nowhere"), await wantedBy(server))).toEqual(await wantedBy(server));
    await expect(consents().agree(join(base, "nowhere"), await one(server))).rejects.toThrow("nowhere does not exist.");
  });

  it("is stored in a readable file", async () => {
    const consent = await one(server);
    await consents().agree(project(), consent);
    const folder = join(base, "home", ".parley", "consents");
    const [name = ""] = await readdir(folder);
    expect(JSON.parse(await readFile(join(folder, name), "utf8"))).toEqual({ project: project(), ...consent });
  });

  it("is asked for until it is given or declined, and again after a change", async () => {
    const [consent, changed] = [
      await one(server),
      await one({ mcpServers: { x: { command: "node", args: ["b.js"] } } }),
    ];
    const unanswered = () => consents().findUnanswered(project(), [consent, changed]);
    expect(await unanswered()).toEqual([consent, changed]);
    await consents().decline(project(), consent);
    expect([await unanswered(), await consents().findMissing(project(), [consent])]).toEqual([[changed], [consent]]);
    await consents().agree(project(), consent);
    expect([await unanswered(), await consents().findMissing(project(), [consent])]).toEqual([[changed], []]);
    await consents().decline(project(), consent);
    expect(await consents().findMissing(project(), [consent])).toEqual([consent]);
  });

  it("is withdrawn in every form, in that project and under that key only", async () => {
    const before = await one({ mcpServers: { x: { command: "before" } } });
    const other = await one({ mcpServers: { y: { command: "node" } } });
    for (const consent of [await one(server), before, other]) await consents().agree(project(), consent);
    await consents().agree(join(base, "other"), await one(server));
    expect([
      await consents().withdraw(project(), "mcpServers.x"),
      await consents().withdraw(project(), "mcpServers.x"),
      await consents().findMissing(project(), [await one(server), before, other]),
      await consents().findMissing(join(base, "other"), [await one(server)]),
    ]).toEqual([true, false, [await one(server), before], []]);
  });
});
