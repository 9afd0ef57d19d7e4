import { describe, expect, it } from "vitest";
import { local } from "../../providers/definitions/local.ts";
import type { Environment } from "../../world/world.ts";
import { simulatedWorld } from "../../world/simulated/world.ts";
import { findLocalServers } from "./local-servers.ts";

const list = (...ids: readonly string[]): string =>
  JSON.stringify({ data: ids.map((id) => ({ id, object: "model" })) });

const bytesOf = async function* (text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
};

/** Searches a machine on which these ports answer with a list of models; a hung port never answers. */
const search = async (ports: Readonly<Record<number, string>>, env: Environment = {}) => {
  const asked: { readonly url: string; readonly key: string | undefined }[] = [];
  const world = simulatedWorld({
    env,
    answer: async ({ url, headers }, signal) => {
      asked.push({ url, key: headers["authorization"] });
      const body = ports[Number(new URL(url).port)];
      if (body === undefined) throw new Error("connection refused");
      if (body === "hangs")
        return new Promise((_, fail) => signal?.addEventListener("abort", () => fail(new Error("aborted"))));
      return { status: 200, headers: {}, body: bytesOf(body) };
    },
  });
  const found = await world.run(findLocalServers(local, world));
  return { found, asked, elapsed: world.clock.elapsed() };
};

describe("servers of local models", () => {
  it("are found on their usual ports, with the models that can chat", async () => {
    const { found, asked } = await search({
      11434: list("qwen3:8b", "nomic-embed-text:latest"),
      1234: list("bge-reranker"),
      8000: list("meta/llama"),
    });
    expect(found).toEqual([
      { name: "Ollama", url: "http://127.0.0.1:11434/v1", models: ["qwen3:8b"] },
      { name: "vLLM", url: "http://127.0.0.1:8000/v1", models: ["meta/llama"] },
    ]);
    expect(asked.map(({ url }) => new URL(url).host).toSorted()).toEqual([
      "127.0.0.1:11434",
      "127.0.0.1:1234",
      "127.0.0.1:8000",
      "127.0.0.1:8080",
    ]);
  });

  it("are not waited for longer than half a second", async () => {
    const { found, elapsed } = await search({ 11434: list("a"), 8080: "hangs" });
    expect([found.map(({ models }) => models), elapsed <= 500]).toEqual([[["a"]], true]);
  });

  it("get no key unless their address is configured, and are only asked on this machine", async () => {
    const key = { PARLEY_LOCAL_API_KEY: "secret" };
    expect((await search({ 11434: list("a") }, key)).asked.map((each) => each.key)).toEqual(Array(4).fill(undefined));
    const configured = { ...key, PARLEY_LOCAL_BASE_URL: "http://localhost:7777/v1" };
    expect((await search({ 7777: list("a") }, configured)).asked).toEqual([
      { url: "http://localhost:7777/v1/models", key: "Bearer secret" },
    ]);
    const remote = { ...key, PARLEY_LOCAL_BASE_URL: "http://models.example/v1" };
    expect(await search({ 80: list("a") }, remote)).toMatchObject({ found: [], asked: [] });
  });
});
