import { describe, expect, it } from "vitest";
import type { PendingApproval } from "../../../agent/agent.ts";
import type { CallId } from "../../../conversation/parts.ts";
import type { DiffOutcome, Ide } from "../../../ide/ide.ts";
import type { ApprovalDecision } from "../../../scheduler/events.ts";
import { simulatedWorld } from "../../../world/simulated/world.ts";
import { fc } from "../../../../test/support/fast-check.ts";
import { EditorDiffs } from "./editor-diffs.ts";

/**
 * An agent that waits for approvals of edits, and asks again about an edit the user changed. `left` is the text that the
 * editor hands over when its diff is closed, if it does.
 */
const createStage = (left?: string) => {
  const world = simulatedWorld();
  let questions: PendingApproval[] = [];
  const written: string[] = [];
  const messages: string[] = [];
  const shown: { readonly after: string; readonly answer: (outcome: DiffOutcome) => void; isOpen: boolean }[] = [];
  const ask = (call: string, after: string, more: { readonly problem?: string; readonly path?: string } = {}): void => {
    const { path = "/p/a.ts", ...rest } = more;
    const subject = {
      type: "edit",
      path,
      relativePath: "a.ts",
      requestedPath: path,
      isLink: false,
      before: "old\n",
      after,
    } as const;
    const stat = { aiAdded: 0, aiRemoved: 0, userAdded: 0, userRemoved: 0 };
    const approval = {
      title: "",
      reason: "",
      always: [],
      isRoutine: true,
      ...rest,
      subject: { ...subject, patch: "", stat, isEditable: true },
    };
    questions = [...questions.filter((each) => each.call !== call), { call: call as CallId, approval }];
  };
  const decide = ({ call, approval: { subject } }: PendingApproval, decision: ApprovalDecision): void => {
    if (!questions.some((each) => each.call === call)) return;
    questions = questions.filter((each) => each.call !== call);
    if (decision.type === "once" && subject.type === "edit") written.push(subject.after);
    if (decision.type === "edit") ask(call, decision.text);
  };
  const ide = {
    name: "Testpad",
    openDiff: ({ after }) => {
      let answer: (outcome: DiffOutcome) => void = () => undefined;
      const outcome = new Promise<DiffOutcome>((resolve) => (answer = resolve));
      const diff = { after, answer, isOpen: true };
      shown.push(diff);
      const close = (): void => void (diff.isOpen = false);
      return {
        outcome,
        close,
        closeAccepted: async () => {
          close();
          return left;
        },
      };
    },
  } as Ide;
  const diffs = new EditorDiffs(ide, {
    clock: world.clock,
    questions: () => questions,
    decide,
    info: (text) => messages.push(text),
  });
  const settle = async (): Promise<void> => {
    for (let round = 0; round < 5; round++) await Promise.resolve();
    diffs.update();
  };
  return { diffs, ask, decide, settle, shown, written, messages, world, questions: () => questions };
};

describe("diffs in the editor", () => {
  it("leave to the terminal what is too large or has a name that had to be sanitized", () => {
    const { diffs, ask, shown } = createStage();
    ask("1", "x".repeat(5 * 2 ** 20));
    ask("2", "x", { path: "/p/a␛.ts" });
    diffs.update();
    expect(shown).toEqual([]);
  });

  it("count only for the text they showed", async () => {
    const { diffs, ask, settle, shown, written, questions } = createStage();
    ask("1", "first");
    diffs.update();
    ask("1", "second");
    shown[0]?.answer({ type: "accepted", text: "first" });
    await settle();
    expect([written, questions().length, shown.map(({ after, isOpen }) => [after, isOpen])]).toEqual([
      [],
      1,
      [
        ["first", true],
        ["second", true],
      ],
    ]);
  });

  it("take other line endings for the same text", async () => {
    const { diffs, ask, settle, shown, written } = createStage();
    ask("1", "a\nb\n");
    diffs.update();
    shown[0]?.answer({ type: "accepted", text: "a\r\nb\r\n" });
    await settle();
    expect(written).toEqual(["a\nb\n"]);
  });

  it("closed by a yes in the terminal: a text changed there is asked about again", async () => {
    const { diffs, ask, decide, settle, shown, written, messages, questions } = createStage("mine");
    ask("1", "proposed");
    diffs.update();
    const [question] = questions();
    decide(question!, await diffs.reconsider(question!, { type: "once" }));
    await settle();
    const asked = questions().map(({ approval: { subject } }) => subject.type === "edit" && subject.after);
    expect([asked, written, shown.map(({ isOpen }) => isOpen)]).toEqual([["mine"], [], [false]]);
    expect(messages).toEqual(["You changed the text in Testpad. Check the changed edit and answer again."]);
  });

  it("closed by a yes in the terminal: what is written is said once where the editor does not hand over its text", async () => {
    const { diffs, ask, decide, settle, written, messages, questions } = createStage();
    for (const call of ["1", "2"]) {
      ask(call, `text ${call}`);
      diffs.update();
      const [question] = questions();
      decide(question!, await diffs.reconsider(question!, { type: "once" }));
      await settle();
    }
    expect(written).toEqual(["text 1", "text 2"]);
    expect(messages).toEqual([
      "Accepted as shown here. Testpad does not hand over changes made in its diff: to keep those, accept there.",
    ]);
  });

  it("never write a text that a person did not accept, whatever comes in whatever order", async () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant("ask" as const), call: fc.constantFrom("1", "2"), text: fc.constantFrom("x", "y") }),
      fc.record({
        do: fc.constant("answer" as const),
        at: fc.nat(5),
        outcome: fc.oneof<fc.Arbitrary<DiffOutcome>[]>(
          fc.constantFrom("x", "y", "mine").map((text) => ({ type: "accepted" as const, text })),
          fc.constant({ type: "refused" as const }),
          fc.constant({ type: "closed" as const }),
        ),
      }),
      fc.record({ do: fc.constant("refuse" as const), call: fc.constantFrom("1", "2") }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 15 }), async (steps) => {
        const { diffs, ask, decide, settle, shown, written, questions } = createStage();
        const accepted: string[] = [];
        for (const each of steps) {
          if (each.do === "ask") ask(each.call, each.text);
          if (each.do === "answer" && each.outcome.type === "accepted") accepted.push(each.outcome.text);
          if (each.do === "answer") shown[each.at]?.answer(each.outcome);
          if (each.do === "refuse") {
            const question = questions().find(({ call }) => String(call) === each.call);
            if (question !== undefined) {
              const decision = await diffs.reconsider(question, { type: "refuse" });
              decide(question, decision);
            }
          }
          await settle();
        }
        for (const text of written) expect(accepted).toContain(text);
        expect(written.length).toBeLessThanOrEqual(accepted.length);
      }),
    );
  });
});
