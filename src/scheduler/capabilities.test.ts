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
const capabilities = createCapabilities(services)({ signal, report: () => undefined });
const options = { most: 1, signal };

describe("a refusal by policy", () => {
  it.each<[string, () => Promise<unknown>]>([
    ["resolve", () => capabilities.files.resolve("a")],
    ["open", () => capabilities.files.open("refused")],
    ["read", async () => (await capabilities.files.open("a")).read(0, 1)],
    ["bytes", () => capabilities.files.bytes("a", 1)],
    ["list", () => capabilities.files.list("a")],
    ["ignored", () => capabilities.files.ignored("a", { git: true, own: true })],
    ["ignoring", () => capabilities.files.ignoring("a", { git: true, own: true })],
    ["write", () => capabilities.files.write("a", new Uint8Array(), "absent")],
    ["keep", () => capabilities.files.keep("a", "b")],
    ["run", () => capabilities.shell.run({ text: "", folder: "", signal, report: () => undefined })],
    ["fetch", () => capabilities.web.fetch("", options)],
    ["files", () => capabilities.search.files("", { ...options, wanted: () => true, rules: { git: true, own: true } })],
    ["text", () => capabilities.search.text("", { ...options, pattern: "" })],
    ["memory.read", () => capabilities.memory.read()],
    ["memory.write", () => capabilities.memory.write("")],
  ])("fails the tool with the same type and words: %s", async (_, use) => {
    const failure: unknown = await use().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ToolFailure);
    expect(failure).toMatchObject({ type: "path_not_in_workspace", message: "It lies outside." });
  });
});
