import { describe, expect, it } from "vitest";
import { simulatedDisk } from "../../world/simulated/disk.ts";
import { openConsentStore } from "./consents.ts";
import { openTrustStore } from "./folders.ts";
import { parseProjectSettings } from "./project-settings.ts";

/* Files as version 0.1.0 wrote them, by path in Parley's own folder. Names are hashes of the texts. */
const files = {
  "trust/4b80d7222d4020cb.json": '{\n  "trusted": "/opt/parley-example/project"\n}\n',
  "consents/984f380f683e07f4.json":
    '{\n  "project": "/opt/parley-example/project",\n  "key": "mcpServers.x",\n  "text": "{\\"command\\": \\"node\\", \\"args\\": [\\"a.js\\"], \\"env\\": {\\"A\\": \\"1\\"}}",\n  "digest": "c7c1e561b72daa1d5fe3de0128326cefb19425f41f332af28bff00b3ba5e9f97"\n}\n',
  "declined/a5b0cbb3bdbc05fb.json":
    '{\n  "project": "/opt/parley-example/project",\n  "key": "hooks.SessionStart",\n  "text": "\\"touch x\\"",\n  "digest": "924306bb2e67bfbc1b9a0b4ddd64756251d3e4177e90ed4d4163c40583fc5d87"\n}\n',
};

const project = "/opt/parley-example/project";
const home = "/opt/parley-example/home/.parley";
const settings = {
  mcpServers: { x: { command: "node", args: ["a.js"], env: { A: "1" } } },
  hooks: { SessionStart: "touch x" },
};

const oldDisk = () => {
  const disk = simulatedDisk();
  disk.seed(project, { kind: "folder" });
  disk.seed(home, { kind: "folder", mode: 0o700 });
  for (const folder of ["trust", "consents", "declined"])
    disk.seed(`${home}/${folder}`, { kind: "folder", mode: 0o700 });
  for (const [path, text] of Object.entries(files)) disk.seed(`${home}/${path}`, { kind: "file", text, mode: 0o600 });
  return disk;
};

describe("answers stored by version 0.1.0", () => {
  it("still trust a folder, and can be listed and removed", async () => {
    const trust = openTrustStore(oldDisk(), home);
    expect([await trust.isTrusted(project), await trust.listTrusted()]).toEqual([true, [project]]);
    expect([await trust.untrustFolder(project), await trust.isTrusted(project)]).toEqual([true, false]);
  });

  it("still count as consent and as declined", async () => {
    const consents = openConsentStore(oldDisk(), home);
    const requests = (await parseProjectSettings(JSON.stringify(settings))).consents;
    expect((await consents.findMissing(project, requests)).map(({ key }) => key)).toEqual(["hooks.SessionStart"]);
    expect(await consents.findUnanswered(project, requests)).toEqual([]);
    expect(await consents.withdraw(project, "mcpServers.x")).toBe(true);
  });
});
