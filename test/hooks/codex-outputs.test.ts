import { describe, expect, it } from "vitest";
import { readHookRun, type HookResult } from "../../src/extensions/hooks/hook-output.ts";
import { readHooks } from "../../src/extensions/hooks/read-hooks.ts";
import type { HookEvent } from "../../src/settings/schema/hook-shape.ts";
import { fc } from "../support/fast-check.ts";

/*
 * The outputs that the JSON Schemas of Codex's hooks allow, written down field by field. Every one of them is read
 * without an error; a field of theirs that has no effect here is named.
 */

const optional = (value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> => fc.option(value, { nil: null });
const word = fc.constantFrom("a reason", "see the log");
const input = fc.constantFrom({ command: "ls" }, {});
const common = {
  continue: fc.boolean(),
  stopReason: optional(word),
  suppressOutput: fc.boolean(),
  systemMessage: optional(word),
};
const blocks = { decision: optional(fc.constant("block")), reason: word };
const record = (
  fields: { readonly [name: string]: fc.Arbitrary<unknown> },
  requiredKeys: string[] = [],
): fc.Arbitrary<Fields> => fc.record(fields, { requiredKeys });
const specific = (
  event: HookEvent,
  fields: { readonly [name: string]: fc.Arbitrary<unknown> },
): { readonly hookSpecificOutput: fc.Arbitrary<unknown> } => ({
  hookSpecificOutput: optional(record({ hookEventName: fc.constant(event), ...fields }, ["hookEventName"])),
});

type Fields = { readonly [field: string]: unknown };

const outputs: { readonly [event in HookEvent]?: fc.Arbitrary<Fields> } = {
  PreToolUse: record({
    ...common,
    decision: optional(fc.constantFrom("approve", "block")),
    reason: word,
    ...specific("PreToolUse", {
      permissionDecision: optional(fc.constantFrom("allow", "deny", "ask")),
      permissionDecisionReason: optional(word),
      updatedInput: optional(input),
      additionalContext: optional(word),
    }),
  }),
  PermissionRequest: record({
    ...common,
    ...specific("PermissionRequest", {
      decision: optional(
        record(
          {
            behavior: fc.constantFrom("allow", "deny"),
            message: optional(word),
            interrupt: fc.boolean(),
            updatedInput: optional(input),
            updatedPermissions: optional(fc.constant([])),
          },
          ["behavior"],
        ),
      ),
    }),
  }),
  PostToolUse: record({
    ...common,
    ...blocks,
    ...specific("PostToolUse", { additionalContext: optional(word), updatedMCPToolOutput: optional(fc.constant("x")) }),
  }),
  UserPromptSubmit: record({
    ...common,
    ...blocks,
    ...specific("UserPromptSubmit", { additionalContext: optional(word) }),
  }),
  SessionStart: record({ ...common, ...specific("SessionStart", { additionalContext: optional(word) }) }),
  SubagentStart: record({ ...common, ...specific("SubagentStart", { additionalContext: optional(word) }) }),
  Stop: record({ ...common, ...blocks }),
  SubagentStop: record({ ...common, ...blocks }),
  PreCompact: record(common),
  PostCompact: record(common),
};

const read = (event: HookEvent, output: Fields | string): HookResult => {
  const settings = { [event]: [{ hooks: [{ type: "command", command: "x" }] }] };
  const [hook] = readHooks([{ source: { type: "user" }, file: "settings.json", settings }]).hooks;
  const text = typeof output === "string" ? output : JSON.stringify(output);
  return readHookRun(hook!, { type: "exit", code: 0, output: text, error: "" });
};

const fieldsIn = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {});

/** The strictest decision of the output. What has run already cannot be blocked: the model reads the reason. */
const expectedDecision = (event: HookEvent, output: Fields): string | undefined => {
  const own = fieldsIn(output["hookSpecificOutput"]);
  const older = { approve: "allow", block: event === "PostToolUse" ? undefined : "deny" }[String(output["decision"])];
  const words = [own["permissionDecision"], fieldsIn(own["decision"])["behavior"], older];
  return ["deny", "ask", "allow"].find((word) => words.includes(word));
};

describe("an output that Codex allows", () => {
  it.each(Object.entries(outputs) as [HookEvent, fc.Arbitrary<Fields>][])("for %s", (event, outputOf) => {
    fc.assert(
      fc.property(outputOf, (output) => {
        const result = read(event, output);
        const own = fieldsIn(output["hookSpecificOutput"]);
        const nested = fieldsIn(own["decision"]);
        expect(result.failure).toBeUndefined();
        expect(result.decision).toBe(expectedDecision(event, output));
        expect(result.updatedInput).toEqual(own["updatedInput"] ?? nested["updatedInput"] ?? undefined);
        const interrupts = nested["behavior"] === "deny" && nested["interrupt"] === true;
        expect(result.stop !== undefined).toBe(output["continue"] === false || interrupts);
        const isUnused = (own["updatedMCPToolOutput"] ?? nested["updatedPermissions"] ?? null) !== null;
        expect(result.message?.includes("have no effect") ?? false).toBe(isUnused);
        const blocked = event === "PostToolUse" && output["decision"] === "block";
        expect(result.context !== undefined).toBe(blocked || (own["additionalContext"] ?? null) !== null);
      }),
    );
  });
});

describe("arguments that are no object", () => {
  it.each([["[1]"], ['"ls"'], ["5"], ["true"]])(
    "updatedInput %s denies the call instead of running the model's",
    (given) => {
      const own = `{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":${given}}`;
      expect(read("PreToolUse", `{"hookSpecificOutput":${own}}`)).toMatchObject({
        decision: "deny",
        reason: "A hook returned arguments that are not a JSON object.",
      });
    },
  );
});
