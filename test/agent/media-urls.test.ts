import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { z } from "zod";
import { describe, expect, it, onTestFinished } from "vitest";
import type { FetchFile } from "../../src/agent/requests/fetch-media.ts";
import { parseModel } from "../../src/agent/models/parse.ts";
import { createGuardedWeb } from "../../src/policy/network/guarded-fetch.ts";
import { openSessionStore } from "../../src/session/store/store.ts";
import type { Script } from "../../src/sim/model/script.ts";
import { defineTool } from "../../src/tools/tool.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { home, openAgentStage, playTurn, type AgentStage } from "../support/agent-stage.ts";

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const url = "https://pictures.example/dot.png";

/** A tool that returns a file by URL. */
const snapshot = (address: string) =>
  defineTool({
    name: "snapshot",
    description: "Makes a picture and says where it is.",
    access: "read",
    input: z.object({}),
    touches: () => ({}),
    title: () => "snapshot",
    run: () => ({ type: "file", mimeType: "image/png", url: address }),
  });

const script: Script = {
  rules: [
    { prompt: "look", replies: [{ parts: [{ type: "call", tool: "snapshot", input: {} }] }] },
    { replies: [{ parts: [{ type: "say", text: "I see." }] }] },
  ],
};

/** A stage whose model calls the tool once, with the URLs fetched and the notices shown. */
const look = async (
  provider: string,
  fetchFile: FetchFile,
  address = url,
): Promise<{ readonly stage: AgentStage; readonly notices: readonly string[] }> => {
  const stage = await openAgentStage({
    providers: [provider],
    script,
    tools: [snapshot(address)],
    agent: { fetchFile },
  });
  const events = await playTurn(stage, "look");
  return { stage, notices: events.flatMap((event) => (event.type === "notice" ? [event.text] : [])) };
};

const expectValid = ({ simulators }: AgentStage): void => {
  const refused = Object.values(simulators).flatMap(({ log }) => log.filter((entry) => entry.verdict === "refused"));
  expect(refused).toEqual([]);
};

const lastBody = ({ simulators }: AgentStage, provider: string): string =>
  JSON.stringify(simulators[provider]?.log.at(-1)?.body);

const served = (
  status = 200,
  bytes: Uint8Array = png,
): { readonly fetched: string[]; readonly fetchFile: FetchFile } => {
  const fetched: string[] = [];
  return {
    fetched,
    fetchFile: async (address, { most }) => {
      fetched.push(address);
      return { status, type: "image/png", bytes: bytes.subarray(0, most), cut: bytes.length > most };
    },
  };
};

describe("a file a tool returns by URL", () => {
  it("is sent as a URL if the API accepts URLs, and is not fetched", async () => {
    const { fetched, fetchFile } = served();
    const { stage } = await look("anthropic", fetchFile);
    expect(lastBody(stage, "anthropic")).toContain(`"url":"${url}"`);
    expect(fetched).toEqual([]);
    expectValid(stage);
  });

  it.each(["google", "bedrock", "kimi"])("is fetched once for an API that accepts only bytes: %s", async (provider) => {
    const { fetched, fetchFile } = served();
    const { stage } = await look(provider, fetchFile);
    await playTurn(stage, "and now?");
    expect(lastBody(stage, provider)).toContain(png.toString("base64"));
    expect(lastBody(stage, provider)).not.toContain(url);
    expect(fetched).toEqual([url]);
    expectValid(stage);
  });

  it("is fetched when the session switches to a model that accepts only bytes, and stored for a resumed session", async () => {
    const { fetched, fetchFile } = served();
    const { stage } = await look("anthropic", fetchFile);
    const { world, agent, session } = stage;
    const { journal } = stage;
    await agent.switchModel({ models: [parseModel("google")], strategy: "failover", cooldown: 60_000 });
    expect(fetched).toEqual([]);
    // The address is not served; the request is built all the same.
    await playTurn(stage, "and now?").catch(() => []);
    expect(fetched).toEqual([url]);
    await world.run(journal.commit());
    await session.close();
    const again = await openSessionStore(world, { home }).open(session.id);
    expect(again.entries.map(({ type }) => type)).toContain("copy");
    expect(Object.values(again.blobs)).toContain(png.toString("base64"));
  });

  it.each([
    ["does not exist", served(404), "The server answered with 404."],
    ["is too large", served(200, new Uint8Array(20 * 2 ** 20 + 1)), "It has more than 20 MB."],
    ["is a page", served(200, Buffer.from("<html>Sign in</html>")), "It is text (image/png), not image/png."],
  ])("is sent as text if it %s, and a notice says why", async (_, { fetched, fetchFile }, reason) => {
    const { stage, notices } = await look("google", fetchFile);
    await playTurn(stage, "and now?");
    expect(notices).toEqual([`${url} could not be fetched, so the model gets only its URL. ${reason}`]);
    expect(lastBody(stage, "google")).toContain("not shown");
    expect(fetched).toEqual([url]);
    expectValid(stage);
  });

  it("is never fetched from a private network", async () => {
    let hits = 0;
    const server = createServer((_, response) => {
      hits += 1;
      response.setHeader("content-type", "image/png").end(png);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const web = createGuardedWeb({ clock: realWorld().clock });
    const { notices } = await look(
      "google",
      (address, given) => web.fetch(address, given),
      `http://127.0.0.1:${port}/dot.png`,
    );
    expect(notices).toHaveLength(1);
    expect(hits).toBe(0);
  });
});
