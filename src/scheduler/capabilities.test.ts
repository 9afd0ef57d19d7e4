import { describe, expect, it } from "vitest";
import { PolicyError } from "../policy/error.ts";
import { ToolFailure } from "../tools/tool.ts";
import { createCapabilities, type PolicyServices } from "./capabilities.ts";

const refuse = () => Promise.reject(new PolicyError("path_not_in_workspace", "It lies outside."));
const place = { path: "/a", shown: "a", kind: "file", size: 1, modified: 0, identity: "1" } as const;
const services: PolicyServices = {
  files: {
    roots: ["/"],
    resolve: refuse,
    open: (path) =>
      path === "refused" ? refuse() : Promise.resolve({ place, read: refuse, close: () => Promise.resolve() }),
    bytes: refuse,
    list: refuse,
    ignored: refuse,
    ignoring: refuse,
    write: refuse,
    keep: refuse,
  },
  shell: { run: refuse },
  web: { fetch: refuse },
  search: { files: refuse, text: refuse },
  memory: { path: "/m", read: refuse, write: refuse },
};
const { signal } = new AbortController();
const can = createCapabilities(services)({ signal, report: () => undefined });
const options = { most: 1, signal };

describe("what policy refuses", () => {
  it.each<[string, () => Promise<unknown>]>([
    ["resolve", () => can.files.resolve("a")],
    ["open", () => can.files.open("refused")],
    ["read", async () => (await can.files.open("a")).read(0, 1)],
    ["bytes", () => can.files.bytes("a", 1)],
    ["list", () => can.files.list("a")],
    ["ignored", () => can.files.ignored("a", { git: true, own: true })],
    ["ignoring", () => can.files.ignoring("a", { git: true, own: true })],
    ["write", () => can.files.write("a", new Uint8Array(), "absent")],
    ["keep", () => can.files.keep("a", "b")],
    ["run", () => can.shell.run({ text: "", folder: "", signal, report: () => undefined })],
    ["fetch", () => can.web.fetch("", options)],
    ["files", () => can.search.files("", { ...options, wanted: () => true, rules: { git: true, own: true } })],
    ["text", () => can.search.text("", { ...options, pattern: "" })],
    ["memory.read", () => can.memory.read()],
    ["memory.write", () => can.memory.write("")],
  ])("fails the tool with the same type and words: %s", async (_, use) => {
    const failure: unknown = await use().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ToolFailure);
    expect(failure).toMatchObject({ type: "path_not_in_workspace", message: "It lies outside." });
  });
});
