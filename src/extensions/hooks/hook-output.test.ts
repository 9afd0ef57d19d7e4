import { describe, expect, it } from "vitest";
import { readHookRun, type HookResult } from "./hook-output.ts";
import { readHooks } from "./read-hooks.ts";

const read = (output: object, code = 0, handler: object = {}): HookResult => {
  const settings = { PreToolUse: [{ hooks: [{ type: "command", command: "x", ...handler }] }] };
  const [hook] = readHooks([{ source: { type: "user" }, file: "settings.json", settings }]).hooks;
  return readHookRun(hook!, { type: "exit", code, output: JSON.stringify(output), error: "" });
};
const decides = (permissionDecision: string, more: object = {}): object => ({
  ...more,
  hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision, permissionDecisionReason: "R" },
});

describe("the output of a hook", () => {
  it("denies in its older form, even if the newer one allows", () => {
    expect(read(decides("allow", { decision: "block", reason: "OLD" }))).toMatchObject({ decision: "deny" });
    expect(read(decides("ask", { decision: "approve" }))).toMatchObject({ decision: "ask" });
    expect(read(decides("allow", { decision: "perhaps" }))).toMatchObject({ decision: "deny" });
  });

  it("restricts, and never allows, if the hook fails", () => {
    const failure = "It ended with exit code 1: ";
    expect(read(decides("deny"), 1)).toEqual({ decision: "deny", reason: "R" });
    expect(read(decides("ask"), 1)).toEqual({ decision: "ask", reason: "R" });
    expect(read({ continue: false, stopReason: "Enough." }, 1)).toEqual({ stop: "Enough." });
    expect(read(decides("allow"), 1).decision).toBeUndefined();
    expect(read(decides("allow"), 1).failure).toContain(failure);
    expect(read(decides("allow"), 1, { onFailure: "block" })).toMatchObject({ decision: "deny" });
    // Codex reads the output of a hook that succeeds only.
    expect(read(decides("deny"), 1, { format: "codex" }).failure).toContain(failure);
  });
});
