import { describe, expect, it } from "vitest";
import { findProvider } from "../../providers/find.ts";
import { simulatedWorld } from "../../world/simulated/world.ts";
import { version } from "../../world/version.ts";
import { createRequestSigner } from "./request-signer.ts";
import { accountDigest } from "./credentials.ts";

const body = { contents: [] };

describe("the gate", () => {
  it("makes a whole request of a body: addressed for its purpose, and signed", async () => {
    const gate = createRequestSigner(simulatedWorld({ env: { GEMINI_API_KEY: "key-1" } }));
    const to = { provider: findProvider("google"), model: "gemini-3.8-flash" };
    const [whole, stream] = await Promise.all(
      [false, true].map((streams) => gate.prepare(to, { body, stream: streams, renew: false })),
    );

    expect(whole).toEqual({
      method: "POST",
      url: "https://generativelanguage.googleapis.com/v1beta/models/gemini-3.8-flash:generateContent",
      headers: {
        "content-type": "application/json",
        "user-agent": `Parley/${version} (simulated; none)`,
        "x-goog-api-key": "key-1",
      },
      body: Buffer.from('{"contents":[]}'),
    });
    expect(stream?.url).toMatch(/:streamGenerateContent\?alt=sse$/);
  });

  it("knows the place and the account before anything is sent", () => {
    const env = { OPENAI_API_KEY: "key-1" };
    const openai = findProvider("openai");

    expect(createRequestSigner(simulatedWorld({ env })).locate({ provider: openai, model: "m" })).toEqual({
      url: "https://api.openai.com/v1/responses",
      account: accountDigest(openai, env),
    });
    expect(createRequestSigner(simulatedWorld()).locate({ provider: openai, model: "m" })).toEqual({
      url: "https://api.openai.com/v1/responses",
    });
  });

  it("is closed without an address, and says what to set", async () => {
    const gate = createRequestSigner(simulatedWorld());
    const to = { provider: findProvider("azure"), model: "m" };
    const failure = {
      provider: "azure",
      label: "Azure OpenAI",
      kind: "misconfigured",
      how: "Set AZURE_OPENAI_ENDPOINT to the address of your resource, or AZURE_OPENAI_RESOURCE to its name.",
    };

    await expect(gate.prepare(to, { body, stream: true, renew: false })).rejects.toMatchObject({ failure });
    expect(() => gate.locate(to)).toThrow(failure.how);
  });

  it("gets a new token when the last was refused", async () => {
    let given = 0;
    const world = simulatedWorld({
      env: { GCE_METADATA_HOST: "metadata.test", GOOGLE_CLOUD_PROJECT: "p" },
      answer: async () => ({
        status: 200,
        headers: {},
        body: (async function* () {
          yield Buffer.from(JSON.stringify({ access_token: `token-${++given}`, expires_in: 3600 }));
        })(),
      }),
    });
    const gate = createRequestSigner(world);
    const bearer = async (renew: boolean): Promise<string | undefined> => {
      const to = { provider: findProvider("vertex"), model: "m" };
      return (await gate.prepare(to, { body, stream: true, renew })).headers["authorization"];
    };

    expect([await bearer(false), await bearer(false), await bearer(true)]).toEqual([
      "Bearer token-1",
      "Bearer token-1",
      "Bearer token-2",
    ]);
  });
});
