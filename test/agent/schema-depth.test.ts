import { z } from "zod";
import { describe, expect, it } from "vitest";
import { selectTools } from "../../src/mcp/catalog.ts";
import type { Script } from "../../src/sim/model/script.ts";
import { defineTool, type AnyTool } from "../../src/tools/tool.ts";
import { openAgentStage, playTurn } from "../support/agent-stage.ts";

const parameters = { type: "object", properties: { child: { $ref: "#" } } };
const tree: AnyTool = {
  ...defineTool({
    name: "tree",
    description: "Draws a tree.",
    access: "read",
    input: z.object({}),
    touches: () => ({}),
    title: () => "tree",
    run: () => "drawn",
  }),
  parameters,
};
const script: Script = { rules: [{ replies: [{ parts: [{ type: "say", text: "Good day." }] }] }] };
const message = "The maximum schema depth is exceeded for functionDeclarations.";

describe("a tool whose schema refers to itself", () => {
  it("is removed with a notice if an API refuses its depth, and the session continues", async () => {
    const fault = { type: "status", status: 400, message } as const;
    const stage = await openAgentStage({ script, tools: [tree], faults: { anthropic: [{ on: 1, fault }] } });
    const events = await playTurn(stage, "hello");
    const { log = [] } = stage.simulators["anthropic"] ?? {};
    expect(events.at(-1)).toEqual({ type: "finished", reason: "stop", text: "Good day." });
    expect(events.flatMap((event) => (event.type === "notice" ? [event.text] : []))).toEqual([
      "Anthropic refuses the depth of a tool's schema. The parameters of tree refer to themselves; the session continues without that tool.",
    ]);
    const accepted = log.filter(({ verdict }) => verdict === "accepted");
    expect(accepted.length).toBe(log.length - 1);
    expect(accepted.map(({ body }) => JSON.stringify(body).includes('"tree"'))).toEqual(accepted.map(() => false));
  });

  it("is reported when its server lists it", () => {
    const warnings: string[] = [];
    const plain = { type: "object", properties: {} };
    const items = [
      { name: "tree", inputSchema: parameters },
      { name: "leaf", inputSchema: plain },
    ];
    expect(selectTools(items, { excludeTools: [] }, warnings).map(({ name }) => name)).toEqual(["tree", "leaf"]);
    expect(warnings).toEqual([
      'The parameters of "tree" refer to themselves: an API that rejects recursive schemas gets the session without this tool.',
    ]);
  });
});
