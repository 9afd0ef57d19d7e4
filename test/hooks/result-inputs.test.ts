import { afterEach, describe, expect, it } from "vitest";
import { openHookStage, play, type HookStage } from "./fixture.ts";

let stage: HookStage;
afterEach(() => stage.remove());

/** The inputs of a hook of a format: after a command that fails, one that succeeds, a failed call and two edits. */
const runWith = async (format: "claude" | "codex" | "gemini"): Promise<readonly object[]> => {
  stage = openHookStage({
    otherwise: { say: "Done." },
    rules: [
      {
        prompt: "go",
        replies: [
          { call: { tool: "run_shell_command", input: { command: "echo out; echo err >&2; exit 3" } } },
          { call: { tool: "run_shell_command", input: { command: "echo fine" } } },
          { call: { tool: "read_file", input: { absolute_path: "none.txt" } } },
          { call: { tool: "write_file", input: { file_path: "new.txt", content: "one" } } },
          { call: { tool: "replace", input: { file_path: "new.txt", old_string: "one", new_string: "two" } } },
          { say: "Done." },
        ],
      },
    ],
  });
  const groups = [{ hooks: [{ type: "command", command: stage.logs, ...(format === "claude" ? {} : { format }) }] }];
  stage.settings({ hooks: { PostToolUse: groups, ...(format === "claude" ? { PostToolUseFailure: groups } : {}) } });
  await stage.trust();
  const session = await stage.open({ approve: () => ({ type: "once" }) });
  await play(session);
  await session.close();
  return stage.log().map((input) => {
    const { hook_event_name: event, tool_name: tool, tool_response: response, error } = input;
    return { event, tool, ...(response === undefined ? {} : { response }), ...(error === undefined ? {} : { error }) };
  });
};

describe("the input of a hook after a call", () => {
  it("is that of Claude Code: a command that fails is a failure", async () => {
    const shell = { stderr: "", interrupted: false, isImage: false };
    const log = await runWith("claude");
    const path = `${stage.work}/new.txt`;
    expect(log).toEqual([
      { event: "PostToolUseFailure", tool: "Bash", error: "Exit code 3\nout\nerr" },
      { event: "PostToolUse", tool: "Bash", response: { ...shell, stdout: "fine", exit_code: 0 } },
      { event: "PostToolUseFailure", tool: "Read", error: expect.stringContaining("none.txt") as string },
      { event: "PostToolUse", tool: "Write", response: { filePath: path, content: "one" } },
      { event: "PostToolUse", tool: "Edit", response: { filePath: path, oldString: "one", newString: "two" } },
    ]);
  });

  it("is that of Codex: a command with any exit code has its output as text", async () => {
    const log = await runWith("codex");
    expect(log.slice(0, 2)).toEqual([
      { event: "PostToolUse", tool: "Bash", response: "out\nerr" },
      { event: "PostToolUse", tool: "Bash", response: "fine" },
    ]);
    expect(log.slice(2)).toMatchObject([{ tool: "Write" }, { tool: "Edit" }]);
  });

  it("is that of Gemini CLI: one event for success and failure", async () => {
    const log = await runWith("gemini");
    const said = (text: string): object => {
      const containing = expect.stringContaining(text) as string;
      return { llmContent: containing, returnDisplay: containing };
    };
    expect(log.slice(0, 4)).toEqual([
      { event: "AfterTool", tool: "run_shell_command", response: said("Exit Code: 3") },
      { event: "AfterTool", tool: "run_shell_command", response: said("Exit Code: 0") },
      {
        event: "AfterTool",
        tool: "read_file",
        response: { ...said("none.txt"), error: { message: expect.stringContaining("none.txt") as string } },
      },
      { event: "AfterTool", tool: "write_file", response: said("new.txt") },
    ]);
  });
});
