import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { Ledger } from "../../src/conversation/ledger.ts";
import { openConsentStore } from "../../src/policy/trust/consents.ts";
import { openTrustStore } from "../../src/policy/trust/folders.ts";
import { completeInterruptedCalls } from "../../src/session/interrupted-calls.ts";
import { openSessionStore } from "../../src/session/store/store.ts";
import { readMergedProjectSettings } from "../../src/settings/load/project.ts";
import { simulatedDisk, type SimulatedDisk } from "../../src/world/simulated/disk.ts";
import { simulatedWorld } from "../../src/world/simulated/world.ts";
import { findRefusedRequest } from "./support/render.ts";

/* The home folder in old-format/ was written by Parley 0.1.0 before any name in its files changed. Never rewrite it. */
const saved = fileURLToPath(new URL("old-format/home", import.meta.url));
const home = "/tmp/oldform/home";
const project = "/tmp/oldform/proj";
const mcpFile = '{"mcpServers":{"demo":{"command":"node","args":["server.js"],"env":{"A":"1"}}}}\n';

const restoreHome = async (): Promise<SimulatedDisk> => {
  const disk = simulatedDisk();
  disk.seed(join(project, ".mcp.json"), { kind: "file", text: mcpFile });
  for (const entry of readdirSync(saved, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const folder = join(home, relative(saved, entry.parentPath));
    disk.seed(folder, { kind: "folder" });
  }
  for (const entry of readdirSync(saved, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const folder = await disk.openFolder(join(home, relative(saved, entry.parentPath)));
    await folder.writeFile(entry.name, readFileSync(join(entry.parentPath, entry.name)), 0o600);
    await folder.close();
  }
  return disk;
};

it("sessions of the first format are listed, resumed and sent to every provider", async () => {
  const store = openSessionStore(simulatedWorld({ disk: await restoreHome(), start: Date.UTC(2026, 11, 1) }), { home });
  const listed = (await store.list()).map(({ id, title, models, turns }) => ({ id, title, models, turns }));
  expect(listed.toSorted((one, other) => (one.id < other.id ? -1 : 1))).toEqual([
    {
      id: "1rdhhha5xc",
      title: "Mend the sum",
      models: ["offline/parley", "anthropic/claude-sonnet-5"],
      turns: 6,
    },
    {
      id: "1rdhj4xbfx",
      title: "All entry types",
      models: ["anthropic/claude-sonnet-5", "openai/gpt-5.6"],
      turns: 1,
    },
    { id: "1rdhkpegpf", title: "Every kind of record", models: ["local/llava"], turns: 2 },
  ]);
  for (const { id } of listed) {
    const session = await store.open(id);
    expect({ id, damage: session.damage }).toEqual({ id, damage: [] });
    expect(findRefusedRequest(session)).toBeUndefined();
    await session.append([{ kind: "title", title: "Resumed" }]);
    await session.close();
    const again = await store.read(id);
    expect({ title: again.title, entries: again.entries.length }).toEqual({
      title: "Resumed",
      entries: session.entries.length,
    });
  }
});

it("every kind of record and entry of the first format is read", async () => {
  const store = openSessionStore(simulatedWorld({ disk: await restoreHome() }), { home });
  const kinds = new Set<string>();
  const types = new Set<string>();
  for (const { id } of await store.list()) {
    for await (const { record } of (await store.read(id)).records()) {
      kinds.add(record.kind);
      if (record.kind !== "entry") continue;
      types.add(record.entry.type);
      if ("parts" in record.entry) for (const { type } of record.entry.parts) types.add(`${record.entry.type} ${type}`);
    }
  }
  expect([...kinds].toSorted()).toEqual(["entry", "head", "input", "model", "repair", "request", "title", "tools"]);
  expect([...types].toSorted()).toEqual([
    "compaction",
    "completion",
    "copy",
    "model",
    "model call",
    "model code",
    "model text",
    "model thinking",
    "notice",
    "user",
    "user media",
    "user text",
  ]);
  const { entries, blobs, inputs, tools } = await store.read("1rdhkpegpf");
  expect({ entries: entries.length, blobs, inputs, tools: tools?.map(({ name }) => name) }).toEqual({
    entries: 3,
    blobs: {},
    inputs: { "local/llava": ["image"] },
    tools: ["screenshot", "read_file"],
  });
  expect(Object.keys((await store.read("1rdhj4xbfx")).blobs)).toHaveLength(1);
});

it("a tool call that was running when a program of the first format was killed is completed as interrupted", async () => {
  const store = openSessionStore(simulatedWorld({ disk: await restoreHome() }), { home });
  const { entries } = await store.read("1rdhhha5xc");
  const { calls, messages } = completeInterruptedCalls(Ledger.from(entries));
  expect(calls.map(({ tool }) => tool)).toEqual(["run_shell_command"]);
  expect(messages).toHaveLength(1);
});

it("trust and consent answers of the first format are honoured", async () => {
  const disk = await restoreHome();
  expect(await openTrustStore(disk, home).isTrusted(project)).toBe(true);
  const { consents } = await readMergedProjectSettings(disk, { root: project, personalFolders: [home] });
  expect(consents.map(({ key }) => key)).toEqual(["mcpServers.demo"]);
  expect(await openConsentStore(disk, home).findMissing(project, consents)).toEqual([]);
});
