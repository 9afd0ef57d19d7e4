import { describe, expect, it } from "vitest";
import { supportsLinks } from "./link-support.ts";

describe("links", () => {
  it.each<[Record<string, string>, boolean]>([
    [{ TERM: "xterm-kitty" }, true],
    [{ TERM: "xterm-256color", TERM_PROGRAM: "vscode" }, true],
    [{ TERM: "xterm-256color", VTE_VERSION: "7003" }, true],
    [{ TERM: "xterm-256color", VTE_VERSION: "4601" }, false],
    [{ TERM: "xterm-256color", KONSOLE_VERSION: "230800" }, true],
    [{ TERM: "xterm-256color", WT_SESSION: "x" }, true],
    [{ TERM: "xterm-256color", TERM_PROGRAM: "Apple_Terminal" }, false],
    [{ TERM: "xterm-kitty", TMUX: "/tmp/tmux" }, false],
    [{ TERM: "screen-256color", TERM_PROGRAM: "iTerm.app" }, false],
    [{ TERM: "xterm-256color" }, false],
    [{}, false],
  ])("are written only to terminals known to show them: %j", (env, expected) => {
    expect(supportsLinks(env)).toBe(expected);
  });
});
