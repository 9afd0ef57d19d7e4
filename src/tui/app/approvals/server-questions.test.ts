import { describe, expect, it } from "vitest";
import type { Elicitation } from "../../../mcp/requests/handlers.ts";
import { ServerQuestions } from "./server-questions.ts";

const form = (server: string): Elicitation => ({ type: "form", server, message: "", schema: {}, seemsSecret: false });
const url: Elicitation = { type: "url", server: "s", message: "", url: "https://a.test/" };
const sampling = { server: "s", messages: [], maxTokens: 1, raw: {} };

const opened = (canOpen = true) => {
  const urls: string[] = [];
  const said: string[] = [];
  const desk = new ServerQuestions(async (address) => (urls.push(address), canOpen));
  let changes = 0;
  desk.listen({
    onChange: () => (changes += 1),
    info: (text) => void said.push(text),
    showPlan: async (plan) => void said.push(`plan: ${plan}`),
    editPlan: async (plan) => `${plan}!`,
    setMode: async (mode) => void said.push(mode),
  });
  const waiting = (): readonly string[] =>
    desk.pending().map(({ request }) => ("server" in request ? `${request.type} of ${request.server}` : request.type));
  return { desk, ask: desk.handlers, urls, said, waiting, changes: () => changes };
};

const { signal } = new AbortController();

describe("questions of servers", () => {
  it("wait in order, each for its own answer", async () => {
    const { desk, ask, waiting, changes } = opened();
    const answers = [ask.elicit!(form("a"), signal), ask.elicit!(form("b"), signal), ask.sample!(sampling, signal)];
    expect([waiting(), changes()]).toEqual([["form of a", "form of b", "sampling of s"], 3]);
    const [first, second, third] = desk.pending();
    desk.answer(second!, { type: "yes", content: { x: 1 } });
    desk.answer(second!, { type: "no" });
    expect(waiting()).toEqual(["form of a", "sampling of s"]);
    desk.answer(third!, { type: "yes" });
    desk.answer(first!, { type: "no" });
    expect([await Promise.all(answers), waiting(), changes()]).toEqual([
      [{ action: "decline" }, { action: "accept", content: { x: 1 } }, "allowed"],
      [],
      6,
    ]);
  });

  it("are withdrawn by the server, also before they were seen", async () => {
    const { ask, waiting, said } = opened();
    const [one, other] = [new AbortController(), new AbortController()];
    other.abort();
    const answers = [ask.elicit!(form("a"), one.signal), ask.elicit!(form("b"), other.signal)];
    expect(waiting()).toEqual(["form of a"]);
    one.abort();
    expect([await Promise.all(answers), waiting(), said.toSorted()]).toEqual([
      [{ action: "cancel" }, { action: "cancel" }],
      [],
      ["MCP server a withdrew its question.", "MCP server b withdrew its question."],
    ]);
  });

  it("are all cancelled when the user cancels", async () => {
    const { desk, ask, waiting, said } = opened();
    const answers = [ask.elicit!(form("a"), signal), ask.sample!(sampling, signal), ask.sample!(sampling, signal)];
    desk.cancel();
    expect([await Promise.all(answers), waiting(), said]).toEqual([
      [{ action: "cancel" }, "refused", "refused"],
      [],
      [],
    ]);
  });

  it("open a URL only after a yes, and say when no browser could be opened", async () => {
    const answer = async (canOpen: boolean, type: "yes" | "no"): Promise<unknown> => {
      const { desk, ask, urls, said } = opened(canOpen);
      const answered = ask.elicit!(url, signal);
      desk.answer(desk.pending()[0]!, { type });
      return [await answered, urls, said];
    };
    expect([await answer(true, "no"), await answer(true, "yes"), await answer(false, "yes")]).toEqual([
      [{ action: "decline" }, [], []],
      [{ action: "accept" }, ["https://a.test/"], ["Opened https://a.test/"]],
      [
        { action: "accept" },
        ["https://a.test/"],
        ["Could not open a browser. Open this URL yourself: https://a.test/"],
      ],
    ]);
  });

  it("queue with the agent's own, which continues only after a yes", async () => {
    const { desk, waiting, said } = opened();
    const answers = [
      desk.confirmContinue("Continue?", signal),
      desk.confirmContinue("Continue?", signal),
      desk.confirmContinue("?", signal),
    ];
    expect(waiting()).toEqual(["continue", "continue", "continue"]);
    const [first, second] = desk.pending();
    desk.answer(first!, { type: "yes" });
    desk.answer(second!, { type: "no" });
    desk.cancel();
    expect([await Promise.all(answers), said]).toEqual([[true, false, false], []]);
  });
});

describe("a plan", () => {
  const answered = async (...answers: readonly string[]) => {
    const { desk, said } = opened();
    const review = desk.reviewPlan("Do it", signal);
    for (const answer of answers) {
      await new Promise(setImmediate);
      desk.answer(desk.pending()[0]!, { type: "yes", content: { answer: [answer] } });
    }
    return [await review, said];
  };

  it("that was edited is shown and asked about again, and the mode changes once it is approved", async () => {
    expect(await answered("Edit the plan first", "Yes, and edit without asking")).toEqual([
      { type: "approved", mode: "auto_edit", plan: "Do it!" },
      ["plan: Do it", "plan: Do it!", "auto_edit"],
    ]);
  });

  it("is refused by any other words", async () => {
    for (const words of ["yes, but smaller", "y?", "not yet", "ok"])
      expect(await answered(words)).toEqual([{ type: "refused", reason: words }, ["plan: Do it"]]);
  });

  it.each(["y", "yes", " Yes "])(
    "is approved by %j typed instead of an option, with a question before each edit",
    async (yes) => {
      expect(await answered(yes)).toEqual([
        { type: "approved", mode: "default", plan: "Do it" },
        ["plan: Do it", "default"],
      ]);
    },
  );

  it.each(["n", "no", "No"])("is refused by %j, which is no reason for the model", async (no) => {
    expect(await answered(no)).toEqual([{ type: "refused" }, ["plan: Do it"]]);
  });
});
