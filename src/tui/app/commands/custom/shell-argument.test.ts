import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { fc, runsPerTier } from "../../../../../test/support/fast-check.ts";
import { quoteForShell } from "./shell-argument.ts";

describe("an argument inside a shell command", () => {
  it.each([
    ["echo ", "'a; id'"],
    ['echo "', "a; id"],
    ["echo '", "a; id"],
    ["echo --x=", "'a; id'"],
  ])("is quoted for its place: %s", (before, quoted) => {
    expect(quoteForShell("a; id", before)).toBe(quoted);
  });

  it.each([
    "echo \\",
    "echo $(cat ",
    "echo `cat ",
    "cat <<",
    "cat <<EOF\n",
    "# ",
    "echo ${x:-",
    "echo $",
    "echo $'",
    '"$(',
  ])("is refused where nothing quotes it safely: %j", (before) => {
    expect(quoteForShell("x", before)).toBeUndefined();
  });

  it("reaches the program as it was typed, whatever it holds", () => {
    const before = ["printf %s ", "printf %s '", 'printf %s "', "printf %s a", 'printf %s "b'];
    fc.assert(
      fc.property(
        fc.constantFrom(...before),
        fc.string({
          unit: fc.constantFrom("'", '"', "$", "`", "\\", "(", ")", ";", "i", "\n", " ", "*", "~", "!", "#"),
        }),
        (text, value) => {
          const quoted = quoteForShell(value, text) ?? "";
          const end = text.includes("'") ? "'" : text.includes('"') ? '"' : value === "" ? "''" : "";
          const shown = execFileSync("bash", ["-c", `${text}${quoted}${end}`], { encoding: "utf8" });
          expect(shown).toBe(`${/[ab]$/.exec(text)?.[0] ?? ""}${value}`);
        },
      ),
      { numRuns: runsPerTier(200) },
    );
  });
});
