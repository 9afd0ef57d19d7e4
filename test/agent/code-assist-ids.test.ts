import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/conversation/json.ts";
import type { Script } from "../../src/sim/model/script.ts";
import { openAgentStage, playTurn } from "../support/agent-stage.ts";

const script: Script = {
  rules: [
    { prompt: "add", replies: [{ parts: [{ type: "call", tool: "add", input: { a: 1, b: 2 } }] }] },
    { replies: [{ parts: [{ type: "say", text: "Good day." }] }] },
  ],
};

describe("the prompt id", () => {
  it("is the same in the requests and calls of a prompt, and in the records of the calls", async () => {
    const stage = await openAgentStage({ script, agent: { sessionId: "session-1" } });
    await playTurn(stage, "hello");
    const events = await playTurn(stage, "add");
    const ids = events.flatMap((event) => {
      if (event.type === "request") return [["request", event.request.promptId]];
      if (event.type === "call-requested") return [["call", event.promptId, event.isClientInitiated]];
      return event.type === "call-completed" ? [["record", event.finished.record.prompt_id]] : [];
    });
    expect(ids).toEqual([
      ["request", "session-1#2"],
      ["call", "session-1#2", false],
      ["record", "session-1#2"],
      ["request", "session-1#2"],
    ]);
  });
});

describe("Code Assist", () => {
  it("gets one session id for a session, and one prompt id for all requests of a prompt", async () => {
    const stage = await openAgentStage({ providers: ["code-assist"], script, agent: { sessionId: "session-1" } });
    await playTurn(stage, "add");
    await playTurn(stage, "hello");
    const bodies = (stage.simulators["code-assist"]?.log ?? [])
      .map(({ body }) => body as JsonObject | undefined)
      .filter((body) => body?.["request"] !== undefined);
    const ids = bodies.map((body) => [
      body?.["user_prompt_id"],
      ((body?.["request"] ?? {}) as JsonObject)["session_id"],
    ]);
    expect(new Set(ids.map(([, session]) => session))).toEqual(new Set(["session-1"]));
    expect(ids.map(([prompt]) => prompt).slice(0, 2)).toEqual(["session-1#1", "session-1#1"]);
    expect(ids.at(-1)?.[0]).toBe("session-1#2");
  });
});
