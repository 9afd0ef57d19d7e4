import { describe, expect, it } from "vitest";
import { viewThinkingInFull } from "./collapsed-output.ts";

describe("thinking in full", () => {
  it("has its titles in bold, without their marks", () => {
    const shown = viewThinkingInFull("**Deciding**\nB, not **A**.", 40).map((line) =>
      line.map(({ text, style }) => (style.bold === true && style.italic === true ? `<${text}>` : text)).join(""),
    );
    expect(shown).toEqual(["✻ <Deciding>", "  B, not <A>."]);
  });
});
