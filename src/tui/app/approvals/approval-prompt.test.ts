import { describe, expect, it } from "vitest";
import type { PendingApproval } from "../../../agent/agent.ts";
import { createApprovalPrompt } from "./approval-prompt.ts";

describe("the question about a command", () => {
  it.each([
    [["npm", "test"], "run_shell_command(npm test)"],
    // Exact: a rule that begins with these words would allow any package.
    [["npm", "install", "left-pad"], "Bash(npm install left-pad)"],
  ])("names the rule that its answer would add: %j", (words, rule) => {
    const approval = {
      title: "",
      reason: "",
      isRoutine: false,
      always: [{ type: "command", commands: [words], scopes: ["session", "project"] }],
      subject: { type: "execute", command: words.join(" "), relativeFolder: "", effects: "" },
    } as unknown as PendingApproval["approval"];
    expect(createApprovalPrompt({ approval } as PendingApproval, 0).rule).toBe(rule);
  });
});
