import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../conversation/json.ts";
import { findProvider } from "../../providers/find.ts";
import type { HttpResponse } from "../../world/net.ts";
import { simulatedWorld, type SimulatedWorld } from "../../world/simulated/world.ts";
import type { Environment } from "../../world/world.ts";
import { addCodeAssistMetadata, codeAssistCountRequest } from "./code-assist.ts";
import { createRequestSigner } from "./request-signer.ts";

const contents = [{ role: "user", parts: [{ text: "hi" }] }];
const body: JsonObject = { model: "gemini-3.8-flash", request: { contents, generationConfig: { temperature: 1 } } };

describe("a Code Assist body", () => {
  it("says who pays and what it belongs to, and changes nothing else", () => {
    expect(addCodeAssistMetadata(body, { project: "p", promptId: "prompt-1", session: "s" })).toEqual({
      model: "gemini-3.8-flash",
      project: "p",
      user_prompt_id: "prompt-1",
      request: { contents, generationConfig: { temperature: 1 }, session_id: "s" },
    });
  });

  it("is counted by its messages", () => {
    expect(codeAssistCountRequest(body)).toEqual({ request: { model: "models/gemini-3.8-flash", contents } });
  });
});

const codeAssist = findProvider("code-assist");
const metadata = { ideType: "IDE_UNSPECIFIED", platform: "PLATFORM_UNSPECIFIED", pluginType: "GEMINI" };
const usual = { id: "free-tier", isDefault: true };

type Asked = readonly [string, unknown];

/** A world with a signed-in user, where Code Assist gives these responses in turn. */
const worldWith = async (
  answers: readonly (readonly [number, unknown])[],
  env: Environment = {},
): Promise<{ world: SimulatedWorld; asked: Asked[] }> => {
  const asked: Asked[] = [];
  const left = [...answers];
  const world = simulatedWorld({
    env: { PARLEY_GOOGLE_OAUTH_CLIENT_ID: "c", ...env },
    answer: async ({ method, url, body: sent, headers }): Promise<HttpResponse> => {
      const [status, answer] = left.shift() ?? [500, {}];
      expect(headers["authorization"]).toBe("Bearer access");
      asked.push([`${method} ${new URL(url).pathname}`, sent === undefined ? undefined : JSON.parse(String(sent))]);
      return {
        status,
        headers: {},
        body: (async function* () {
          yield Buffer.from(JSON.stringify(answer));
        })(),
      };
    },
  });
  const tokens = { client: "c", refresh: "r", access: "access", expires: 10 ** 12 };
  await world.files.writePrivate("/home/someone/.parley/auth/code-assist.json", JSON.stringify(tokens));
  return { world, asked };
};

const projectFor = async (world: SimulatedWorld): Promise<unknown> => {
  const gate = createRequestSigner(world);
  const prepared = gate.prepare({ provider: codeAssist, model: "m" }, { body, stream: true, renew: false });
  const sent: unknown = JSON.parse(String((await world.run(prepared)).body));
  return (sent as { readonly project: unknown }).project;
};

describe("the project that pays for Code Assist", () => {
  it("is the one that is set, without a request", async () => {
    const { world, asked } = await worldWith([], { GOOGLE_CLOUD_PROJECT: "mine" });

    expect([await projectFor(world), asked]).toEqual(["mine", []]);
  });

  it.each<[string, unknown]>([
    ["its id", "managed-1"],
    ["an object with its id", { id: "managed-1" }],
  ])("is the one Google keeps for the account, told as %s", async (_, project) => {
    const { world, asked } = await worldWith([[200, { currentTier: usual, cloudaicompanionProject: project }]]);

    expect(await projectFor(world)).toBe("managed-1");
    expect(asked).toEqual([["POST /v1internal:loadCodeAssist", { metadata }]]);
  });

  it("is made for an account that was never here, however long that takes", async () => {
    const { world, asked } = await worldWith([
      [200, { allowedTiers: [{ id: "standard-tier" }, usual] }],
      [200, { name: "operations/op-1" }],
      [200, { name: "operations/op-1" }],
      [200, { done: true, response: { cloudaicompanionProject: { id: "managed-2" } } }],
    ]);

    expect(await projectFor(world)).toBe("managed-2");
    expect(asked).toEqual([
      ["POST /v1internal:loadCodeAssist", { metadata }],
      ["POST /v1internal:onboardUser", { tierId: "free-tier", metadata }],
      ["GET /v1internal/operations/op-1", undefined],
      ["GET /v1internal/operations/op-1", undefined],
    ]);
    expect(world.clock.elapsed()).toBe(10_000);
  });

  it("is asked for once in the life of a program", async () => {
    const { world, asked } = await worldWith([[200, { cloudaicompanionProject: "managed-1" }]]);
    const gate = createRequestSigner(world);
    for (const stream of [true, false])
      await world.run(gate.prepare({ provider: codeAssist, model: "m" }, { body, stream, renew: false }));

    expect(asked.length).toBe(1);
  });

  const ownProject = {
    kind: "no-key",
    how: "This account needs a project of its own. Set GOOGLE_CLOUD_PROJECT to its id.",
  };
  it.each<[string, readonly (readonly [number, unknown])[], unknown]>([
    ["the account has a tier without one", [[200, { currentTier: usual }]], ownProject],
    ["no tier is open to it", [[200, {}]], ownProject],
    [
      "its tier wants one",
      [[200, { allowedTiers: [{ ...usual, userDefinedCloudaicompanionProject: true }] }]],
      ownProject,
    ],
    [
      "Google says no",
      [[403, { error: { status: "PERMISSION_DENIED", message: "no" } }]],
      { kind: "bad-key", detail: "Code Assist does not say which project pays (PERMISSION_DENIED)." },
    ],
    [
      "the answer is nonsense",
      [[502, "<html>"]],
      { kind: "bad-key", detail: "Code Assist does not say which project pays (502)." },
    ],
    [
      "the enrolment never ends",
      [[200, { allowedTiers: [usual] }], ...Array<readonly [number, unknown]>(30).fill([200, { done: false }])],
      { kind: "bad-key", detail: "Google did not finish enrolling this account. Try again later." },
    ],
  ])("is missing with a reason when %s", async (_, answers, failure) => {
    const { world } = await worldWith(answers);

    await expect(projectFor(world)).rejects.toMatchObject({ failure: failure as object });
  });
});
