import { expect, it } from "vitest";
import { declarationsForPlatform } from "./declarations.ts";
import { builtinDeclarations } from "./declarations.data.ts";

const shellOn = (platform: string) =>
  declarationsForPlatform(platform).find(({ name }) => name === "run_shell_command");

it("declares cmd.exe to models on Windows, and changes nothing else", () => {
  const windows = shellOn("win32");
  expect(windows?.description).toContain("cmd.exe");
  expect(JSON.stringify(windows)).toContain("run with cmd.exe /c");
  expect(JSON.stringify(windows)).not.toContain("bash");
  expect(windows?.parameters).toMatchObject({ type: "object", required: ["command"] });
  const others = (platform: string) =>
    declarationsForPlatform(platform).filter(({ name }) => name !== "run_shell_command");
  expect(others("win32")).toEqual(others("linux"));
});

it.each(["linux", "darwin"])("declares bash to models on %s", (platform) => {
  expect(declarationsForPlatform(platform)).toBe(builtinDeclarations);
});
