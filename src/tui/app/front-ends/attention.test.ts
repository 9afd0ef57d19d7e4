import { describe, expect, it } from "vitest";
import { simulatedWorld } from "../../../world/simulated/world.ts";
import { clearNotification, encodeNotification } from "../../screen/notification.ts";
import { AttentionWatch } from "./attention.ts";

const stage = () => {
  const world = simulatedWorld();
  const seen: string[] = [];
  const watch = new AttentionWatch({
    clock: world.clock,
    notify: (text) => seen.push(text),
    clear: () => seen.push("clear"),
  });
  return { watch, seen, pass: (ms: number) => world.run(world.clock.sleep(ms)), now: () => world.clock.elapsed() };
};

const question = { question: "Edit a.txt?", busySince: 0 };
const nothing = { question: undefined, busySince: undefined };

describe("a person", () => {
  it("is called at once if the terminal has no focus, and not at all if it has", async () => {
    const away = stage();
    away.watch.setFocus(false);
    away.watch.update(question);
    await away.pass(1);
    away.watch.update(question);
    await away.pass(60_000);
    away.watch.setFocus(true);
    expect(away.seen).toEqual(["Waiting for you: Edit a.txt?", "clear"]);
    const here = stage();
    here.watch.setFocus(true);
    here.watch.update(question);
    await here.pass(60_000);
    here.watch.update(nothing);
    expect(here.seen).toEqual([]);
  });

  it("is called when they leave while a question is open", async () => {
    const { watch, seen, pass } = stage();
    watch.setFocus(true);
    watch.update(question);
    await pass(1000);
    watch.setFocus(false);
    await pass(1);
    expect(seen).toEqual(["Waiting for you: Edit a.txt?"]);
  });

  it("is called after ten seconds without a key if the terminal does not report its focus", async () => {
    const { watch, seen, pass } = stage();
    watch.update(question);
    await pass(9000);
    expect(seen).toEqual([]);
    await pass(1000);
    watch.pressKey();
    expect(seen).toEqual(["Waiting for you: Edit a.txt?", "clear"]);
  });

  it("is not called about a question that was answered", async () => {
    const { watch, seen, pass } = stage();
    watch.update(question);
    await pass(5000);
    watch.update(nothing);
    await pass(60_000);
    expect(seen).toEqual([]);
  });

  it("is called about one thing at a time: a second call takes the first back", async () => {
    const { watch, seen, pass } = stage();
    watch.setFocus(false);
    watch.update(question);
    await pass(10_000);
    // Answered in an editor: the terminal still has no focus.
    watch.update(nothing);
    watch.close();
    expect(seen).toEqual(["Waiting for you: Edit a.txt?", "clear", "Done", "clear"]);
  });

  it("is called when work longer than ten seconds ends, not for shorter work", async () => {
    const { watch, seen, pass, now } = stage();
    watch.setFocus(false);
    for (const length of [9000, 10_000]) {
      watch.update({ question: undefined, busySince: now() });
      await pass(length);
      watch.update(nothing);
    }
    expect(seen).toEqual(["Done"]);
  });
});

describe("a notification", () => {
  const text = "Waiting for you: Edit\u001b]2;x\u0007 a;b?";
  const shown = "Waiting for you: Edit a,b?";
  const title = `\u001b[22;2t\u001b]2;Parley: ${shown}\u0007`;

  it.each([
    { name: "kitty", env: { TERM: "xterm-kitty" }, expected: `\u001b]99;;Parley: ${shown}\u0007${title}` },
    { name: "iTerm2", env: { TERM_PROGRAM: "iTerm.app" }, expected: `\u001b]9;Parley: ${shown}\u0007${title}` },
    { name: "foot", env: { TERM: "foot" }, expected: `\u001b]777;notify;Parley;${shown}\u0007${title}` },
    { name: "another", env: { TERM: "xterm-256color" }, expected: `\u0007${title}` },
    {
      name: "tmux in kitty",
      env: { TERM: "tmux-256color", TMUX: "/tmp/t,1,0", KITTY_WINDOW_ID: "1" },
      expected: `\u0007\u001bPtmux;\u001b\u001b]99;;Parley: ${shown}\u0007\u001b\\`,
    },
    {
      name: "screen in iTerm2",
      env: { TERM: "screen", STY: "1", LC_TERMINAL: "iTerm2" },
      expected: `\u0007\u001bP\u001b]9;Parley: ${shown}\u0007\u001b\\`,
    },
    { name: "tmux", env: { TERM: "tmux-256color", TMUX: "/tmp/t,1,0" }, expected: "\u0007" },
  ])("is what $name shows, sanitized", ({ env, expected }) => {
    expect(encodeNotification(text, env, "auto")).toBe(expected);
  });

  it("is the bell, or nothing, if so set; the title is restored where it was changed", () => {
    const env = { TERM: "xterm-kitty" };
    expect([encodeNotification(text, env, "bell"), encodeNotification(text, env, "off")]).toEqual(["\u0007", ""]);
    expect([clearNotification(env, "auto"), clearNotification(env, "bell")]).toEqual(["\u001b[23;2t", ""]);
    expect(clearNotification({ TMUX: "x" }, "auto")).toBe("");
  });
});
