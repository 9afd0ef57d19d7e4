import { describe, expect, it } from "vitest";
import { createModelCapability } from "../../src/agent/requests/model-capability.ts";
import type { Script } from "../../src/sim/model/script.ts";
import { createSimulator } from "../../src/sim/simulator.ts";
import { writeTokens } from "../../src/transport/credentials/token-store.ts";
import { simulatedWorld, type SimulatedWorld } from "../../src/world/simulated/world.ts";

const sources = [{ title: "One", uri: "https://one.test/" }];
const cite = (query?: string): Script => ({
  rules: [
    {
      replies: [
        { parts: [{ type: "cite", text: "Ice is cold.", sources, ...(query === undefined ? {} : { query }) }] },
      ],
    },
  ],
});

const signal = new AbortController().signal;
const client = "client-1";

/** A world in which a person has signed in to Code Assist and set no key. */
const signedIn = async (script: Script, env: Readonly<Record<string, string>> = {}) => {
  const simulator = createSimulator({ provider: "code-assist", script });
  const world: SimulatedWorld = simulatedWorld({
    env: { PARLEY_GOOGLE_OAUTH_CLIENT_ID: client, ...env },
    answer: (request, stop) => simulator.handle(request, stop),
  });
  world.disk.seed("/home/someone", { kind: "folder" });
  const expires = world.clock.now() + 3_600_000;
  await writeTokens(world, "code-assist", { client, refresh: "refresh", access: "access", expires });
  const models = createModelCapability(world, "session-1", () =>
    Promise.reject(new Error("The model was not to be asked.")),
  );
  const google = (tool: "search" | "url") => world.run(models.google("How cold is ice?", tool, signal));
  return { google, log: simulator.log };
};

describe("a sign-in to Code Assist alone", () => {
  it("is enough for a web search", async () => {
    const { google, log } = await signedIn(cite("ice"));
    expect(await google("search")).toEqual({
      text: "Ice is cold.",
      sources,
      supports: [{ end: 12, sources: [0] }],
      failed: [],
    });
    expect(log.at(-1)).toMatchObject({
      status: 200,
      body: {
        model: "gemini-3.8-flash",
        project: "simulated-project",
        user_prompt_id: expect.stringMatching(/^[0-9a-f]{32}$/),
        request: {
          session_id: "session-1",
          contents: [{ role: "user", parts: [{ text: "How cold is ice?" }] }],
          tools: [{ googleSearch: {} }],
        },
      },
    });
  });

  it("is enough for the content of an address", async () => {
    const { google, log } = await signedIn(cite());
    expect(await google("url")).toMatchObject({ text: "Ice is cold.", failed: [] });
    expect(log.at(-1)?.body).toMatchObject({ request: { tools: [{ urlContext: {} }] } });
  });

  it("looks up the project once, and uses the one that is set", async () => {
    const found = await signedIn(cite("ice"));
    await found.google("search");
    await found.google("search");
    expect(found.log.filter(({ path }) => path.endsWith(":loadCodeAssist"))).toHaveLength(1);
    const set = await signedIn(cite("ice"), { GOOGLE_CLOUD_PROJECT: "mine" });
    await set.google("search");
    expect(set.log.map(({ path, body }) => [path, (body as { project?: string }).project])).toEqual([
      ["/v1internal:generateContent", "mine"],
    ]);
  });
});

describe("without any key or sign-in", () => {
  it("there is no web search", async () => {
    const world = simulatedWorld({});
    const models = createModelCapability(world, "session-1", () =>
      Promise.reject(new Error("The model was not to be asked.")),
    );
    expect(await world.run(models.google("How cold is ice?", "search", signal))).toBeUndefined();
  });
});
