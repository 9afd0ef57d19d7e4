import { z } from "zod";
import type { ToolDeclaration } from "../../src/conversation/entry.ts";
import { createPermissionGate } from "../../src/policy/gate/create.ts";
import type { ApprovalMode } from "../../src/policy/gate/approval-mode.ts";
import { judgeUrl } from "../../src/policy/network/judge-url.ts";
import { createRegistry } from "../../src/scheduler/registry.ts";
import { createScheduler, type Scheduler } from "../../src/scheduler/scheduler.ts";
import type { Capabilities } from "../../src/tools/capabilities.ts";
import { defineTool, ToolFailure, type AnyTool } from "../../src/tools/tool.ts";
import type { World } from "../../src/world/world.ts";

/** Adds two numbers. */
const add: AnyTool = defineTool({
  name: "add",
  description: "Adds two numbers.",
  access: "read",
  isReadOnly: true,
  input: z.object({ a: z.number(), b: z.number() }),
  touches: () => ({}),
  title: ({ a, b }) => `${a} + ${b}`,
  run: async ({ a, b }) => ({
    content: [{ type: "text", text: String(a + b) }],
    display: { type: "text", text: String(a + b) },
  }),
});

/** Runs until it is cancelled. */
const wait: AnyTool = defineTool({
  name: "wait",
  description: "Waits.",
  access: "read",
  input: z.object({}),
  touches: () => ({}),
  title: () => "wait",
  run: (_, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    }),
});

/** Returns an image of one pixel. */
export const pictureTool: AnyTool = defineTool({
  name: "picture",
  description: "Makes a picture.",
  access: "read",
  input: z.object({}),
  touches: () => ({}),
  title: () => "picture",
  run: async () => ({
    content: [
      { type: "text", text: "Here it is." },
      {
        type: "file",
        mimeType: "image/png",
        bytes: Buffer.from(pixel, "base64"),
        name: "dot.png",
        width: 1,
        height: 1,
      },
    ],
    display: { type: "text", text: "dot.png" },
  }),
});

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Always fails. */
export const failTool: AnyTool = defineTool({
  name: "fails",
  description: "Fails.",
  access: "read",
  input: z.object({}),
  touches: () => ({}),
  title: () => "fails",
  run: async () => {
    throw new ToolFailure("execution_failed", "It does not work.");
  },
});

/** Needs approval, takes some time, and reports that it ran. */
export const createDoTool = (clock: World["clock"], ran: (what: string) => void): AnyTool =>
  defineTool({
    name: "do",
    description: "Does something.",
    access: "execute",
    input: z.object({ what: z.string(), ms: z.number().optional() }),
    touches: () => ({}),
    title: ({ what }) => what,
    run: async ({ what, ms = 0 }, { signal }) => {
      ran(what);
      if (ms > 0) await clock.sleep(ms, signal);
      return { content: [{ type: "text", text: `Did ${what}.` }], display: { type: "text", text: what } };
    },
  });

/** Returns a long text. */
export const longTool: AnyTool = defineTool({
  name: "long",
  description: "Returns much.",
  access: "read",
  input: z.object({ characters: z.number() }),
  touches: () => ({}),
  title: () => "long",
  run: async ({ characters }) => {
    const text = "many words ".repeat(Math.ceil(characters / 11)).slice(0, characters);
    return { content: [{ type: "text", text }], display: { type: "text", text } };
  },
});

/** Tools without side effects, and a scheduler that runs them. */
export const createTestScheduler = (
  { clock }: Pick<World, "clock">,
  more: readonly AnyTool[] = [],
  mode: ApprovalMode = "yolo",
): { readonly scheduler: Scheduler; readonly declarations: readonly ToolDeclaration[] } => {
  const tools = [add, wait, ...more];
  const scheduler = createScheduler({
    tools: createRegistry(tools),
    gate: createPermissionGate({
      mode,
      rules: {},
      trusted: true,
      interactive: true,
      protection: () => ({ level: "free", reason: "" }),
      judgeCommand: async () => ({
        decision: "allow",
        reason: "",
        analysis: { programs: [], suggestedRules: [], writes: [], readsOutside: false, mayRunUnseen: false },
      }),
      judgeUrl: (url) => judgeUrl(url),
    }),
    capabilities: (grant) => ({ ...grant, files: { roots: ["/project"] } }) as unknown as Capabilities,
    clock,
    limits: { processes: 8, toolTime: 600_000 },
  });
  const declarations = tools.map(({ name, description, parameters }) => ({
    name,
    description,
    parameters: parameters ?? ({ type: "object", properties: {} } as const),
  }));
  return { scheduler, declarations };
};
