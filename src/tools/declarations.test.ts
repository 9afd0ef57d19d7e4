import { expect, it } from "vitest";
import { declarationsForPlatform } from "./declarations.ts";
import { builtinDeclarations } from "./declarations.data.ts";

const shellOn = (platform: string) =>
  declarationsForPlatform(platform).find(({ name }) => name === "run_shell_command");

it("tells models on Windows that commands run with cmd.exe, and changes nothing else", () => {
  const windows = shellOn("win32");
  expect(windows?.description).toContain("cmd.exe");
  expect(JSON.stringify(windows)).toContain("run with cmd.exe /c");
  expect(JSON.stringify(windows)).not.toContain("bash");
  expect(windows?.parameters).toMatchObject({ type: "object", required: ["command"] });
  const others = (platform: string) =>
    declarationsForPlatform(platform).filter(({ name }) => name !== "run_shell_command");
  expect(others("win32")).toEqual(others("linux"));
});

it.each(["linux", "darwin"])("tells models on %s that commands run with bash", (platform) => {
  expect(declarationsForPlatform(platform)).toBe(builtinDeclarations);
});
