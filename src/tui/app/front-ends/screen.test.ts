import { describe, expect, it } from "vitest";
import { testTerminal } from "../../../../test/tui/terminal.ts";
import { Random } from "../../../../test/support/random.ts";
import type { PendingApproval } from "../../../agent/agent.ts";
import type { ApprovalDecision } from "../../../scheduler/events.ts";
import { simulatedWorld, type SimulatedWorld } from "../../../world/simulated/world.ts";
import type { PickerOption } from "../../views/picker.ts";
import type { FrontEndHost } from "./front-end.ts";
import { ScreenFrontEnd } from "./screen.ts";
import type { ServerQuestion } from "../approvals/server-questions.ts";
import { perTier, seedFor } from "../../../../test/support/tier.ts";

const typists = perTier({ quick: 12, all: 60 });

/** User actions and their effects, in order, with the time. */
type Seen =
  | { readonly at: number; readonly type: "drawn"; readonly question: string }
  | { readonly at: number; readonly type: "pressed"; readonly key: string }
  | { readonly at: number; readonly type: "answered"; readonly question: string };

const question = (name: number, isRoutine: boolean): PendingApproval => ({
  call: `hist_tool_${name}`,
  approval: {
    title: `run ${name}`,
    reason: "",
    always: [],
    isRoutine,
    subject: {
      type: "execute",
      command: `command-${name}`,
      folder: "/project",
      relativeFolder: "",
      effects: "",
      commands: [],
    },
  } as unknown as PendingApproval["approval"],
});

const stage = (world: SimulatedWorld) => {
  const emulated = testTerminal({ columns: 60, rows: 24 });
  // The emulator takes real time to parse its input, while the world's clock does not advance.
  const terminal = { ...emulated, write: (text: string) => Promise.resolve(void emulated.screen.write(text)) };
  const seen: Seen[] = [];
  const submitted: string[] = [];
  let questions: readonly PendingApproval[] = [];
  let servers: readonly ServerQuestion[] = [];
  const at = (): number => world.clock.elapsed();
  const host: FrontEndHost = {
    live: () => [],
    status: () => [],
    busySince: () => undefined,
    questions: () => questions,
    markPrinted: () => undefined,
    coloursOf: () => undefined,
    answerApproval: ({ call }, decision: ApprovalDecision) => {
      seen.push({ at: at(), type: "answered", question: `${call.replace("hist_tool_", "command-")} ${decision.type}` });
      questions = questions.filter((each) => each.call !== call);
    },
    serverQuestions: () => servers,
    answerServer: ({ id }, answer) => {
      seen.push({ at: at(), type: "answered", question: `asks-${id} ${answer.type}` });
      servers = servers.filter((each) => each.id !== id);
    },
    model: () => "a/b",
    editBeforeApproval: () => undefined,
    complete: () => [],
    resolvePaste: () => Promise.resolve(undefined),
    pasteClipboardImage: () => Promise.resolve(undefined),
    submit: (text) => submitted.push(text),
    work: () => undefined,
    queued: () => [],
    takeBackQueued: () => undefined,
    editPrompt: () => Promise.resolve(undefined),
    cancel: () => {
      questions = [];
      servers = [];
    },
    quit: () => undefined,
    expandCollapsed: () => undefined,
    canMoveToBackground: () => false,
    moveToBackground: () => false,
    switchToNextFavourite: () => undefined,
    toggleThinking: () => undefined,
    rewind: () => undefined,
    cycleApprovalMode: () => undefined,
  };
  const front = new ScreenFrontEnd({ terminal, world, host, theme: undefined, history: () => Promise.resolve([]) });
  return {
    terminal,
    front,
    seen,
    submitted,
    rows: () => terminal.screen.rows(),
    ask: (name: number, isRoutine = false) => {
      questions = [...questions, question(name, isRoutine)];
      front.update();
    },
    askServer: (id: number) => {
      servers = [
        ...servers,
        { id, request: { type: "url", server: "parrot", message: `asks-${id}`, url: "https://example.com/" } },
      ] as unknown as readonly ServerQuestion[];
      front.update();
    },
    press: (key: string) => {
      seen.push({ at: at(), type: "pressed", key });
      terminal.emit({ type: "input", bytes: Buffer.from(key) });
    },
    /** Advances the clock by `ms`, running all that happens meanwhile. */
    pass: async (ms: number) => {
      await world.run(world.clock.sleep(ms));
      await emulated.screen.write("");
    },
    /** The visible rows of the terminal. */
    shown: () =>
      [
        ...terminal.screen
          .rows()
          .join("\n")
          .matchAll(/\$ (command-\S+)|^│ (asks-\d+) +│$/gm),
      ].map(([, call, server]) => call ?? server ?? ""),
  };
};

describe("a question", () => {
  it("is deferred while a message is being written, says so, and opens once it was sent", async () => {
    const world = simulatedWorld();
    const { front, pass, ask, press, rows, shown, seen, submitted } = stage(world);
    press("fix the te");
    ask(1);
    await pass(5000);
    expect(shown()).toEqual([]);
    expect(rows().join(" ")).toContain("A question opens when you stop typing.");
    press("sty\r");
    await pass(900);
    expect(shown()).toEqual([]);
    await pass(200);
    expect(shown()).toEqual(["command-1"]);
    expect(submitted).toEqual(["fix the testy"]);
    press("y");
    await pass(100);
    expect(seen.at(-1)).toMatchObject({ type: "answered", question: "command-1 once" });
    await world.run(front.close());
  });

  it("has Yes in focus for an ordinary command; Enter answers only once it could be read", async () => {
    const world = simulatedWorld();
    const { front, pass, ask, press, shown, seen } = stage(world);
    const answers = () => seen.flatMap((each) => (each.type === "answered" ? [each.question] : []));
    ask(1, true);
    await pass(50);
    expect(shown()).toEqual(["command-1"]);
    press("\r");
    await pass(100);
    expect(answers()).toEqual([]);
    await pass(500);
    press("\r");
    await pass(100);
    ask(2, false);
    await pass(1500);
    press("\r");
    await pass(100);
    expect(answers()).toEqual(["command-1 once", "command-2 refuse"]);
    await world.run(front.close());
  });

  it("opens even if the clock advances while the screen is drawn", async () => {
    const simulated = simulatedWorld();
    let drift = 0;
    // Every read of the clock takes a moment, as on a busy machine.
    const clock = { ...simulated.clock, elapsed: () => simulated.clock.elapsed() + (drift += 0.25) };
    const { front, pass, ask, press, shown } = stage({ ...simulated, clock });
    for (let number = 1; number <= 60; number += 1) {
      press("x\r");
      // Around the moment the keyboard becomes idle.
      await pass(1001 - number / 20);
      ask(number);
      await pass(1500);
      expect(shown()).toEqual([`command-${number}`]);
      press("y");
      await pass(400);
    }
    await simulated.run(front.close());
  });

  it("can be answered at once with Ctrl-G, keeping the draft", async () => {
    const world = simulatedWorld();
    const { front, pass, ask, press, rows, shown, seen } = stage(world);
    press("half a sen");
    ask(1);
    await pass(50);
    press("\u0007");
    await pass(50);
    expect(shown()).toEqual(["command-1"]);
    press("y");
    await pass(50);
    expect(seen.at(-1)).toMatchObject({ type: "answered", question: "command-1 once" });
    expect(rows()).toContain("> half a sen");
    await world.run(front.close());
  });

  it("ignores the second of two quick presses that answered the previous one", async () => {
    const world = simulatedWorld();
    const { front, pass, ask, press, seen, shown, rows } = stage(world);
    ask(1);
    ask(2);
    await pass(50);
    press("y");
    press("y");
    await pass(2000);
    expect(seen.filter(({ type }) => type === "answered")).toHaveLength(1);
    expect(rows()).toContain("> y");
    expect(shown()).toEqual([]);
    await world.run(front.close());
  });

  it("is never answered by a key pressed before it was drawn, whatever the typing", async () => {
    let answered = 0;
    const first = seedFor(1);
    for (let seed = first; seed < first + typists; seed += 1) {
      const world = simulatedWorld({ seed });
      const random = new Random(seed);
      const { front, pass, ask, askServer, press, shown, seen } = stage(world);
      const drawn = new Set<string>();
      const look = (): void => {
        for (const name of shown())
          if (!drawn.has(name)) {
            drawn.add(name);
            seen.push({ at: world.clock.elapsed(), type: "drawn", question: name });
          }
      };
      let count = 0;
      for (let step = 0; step < 40; step += 1) {
        const what = random.below(10);
        count += 1;
        if (what === 0) ask(count);
        else if (what === 1) askServer(count);
        else if (what < 8)
          press(random.pick(["y", "n", "a", "o", "\r", "e", " ", "\u001b[B", "\u007f", "ye", "n\r", "y\r"]));
        await pass(random.pick([0, 0, 1, 5, 17, 40, 120, 400, 1100]));
        look();
      }
      const answers = seen.flatMap((each, index) => (each.type === "answered" ? [{ ...each, index }] : []));
      answered += answers.length;
      for (const { question: answer, index } of answers) {
        const name = answer.split(" ")[0] ?? "";
        const pressedAt = seen.slice(0, index).findLastIndex(({ type }) => type === "pressed");
        const drawnBefore = seen.slice(0, pressedAt).some((each) => each.type === "drawn" && each.question === name);
        expect([seed, answer, drawnBefore]).toEqual([seed, answer, true]);
      }
      await world.run(front.close());
    }
    expect(answered).toBeGreaterThan(typists / 2);
  });
});

describe("a confirmation the user did not initiate", () => {
  const options: readonly PickerOption[] = [
    { id: "later", label: "Not now" },
    { id: "trust", label: "Yes, trust it" },
  ];

  it("takes typed text for the next message, and its Enter does not confirm", async () => {
    const world = simulatedWorld();
    const { front, pass, press, rows, submitted } = stage(world);
    let chosen: string | undefined = "open";
    void front.confirm("Trust this folder?", options).then((option) => (chosen = option?.id));
    await pass(50);
    press("trust me");
    await pass(50);
    expect(rows()).toContain("> trust me");
    expect(rows()).toContain("› Not now".padEnd(9));
    press("\r");
    press("\r");
    await pass(50);
    expect([submitted, chosen]).toEqual([["trust me"], "open"]);
    await pass(1000);
    press("\u001b[B\r");
    await pass(50);
    expect(chosen).toBe("trust");
    await world.run(front.close());
  });

  it("cannot be answered before it is drawn", async () => {
    const world = simulatedWorld();
    const { front, pass, press } = stage(world);
    let isMade = false;
    void front.confirm("Trust this folder?", options).then(() => (isMade = true));
    press("\r");
    await pass(50);
    expect(isMade).toBe(false);
    press("\r");
    await pass(50);
    expect(isMade).toBe(true);
    await world.run(front.close());
  });
});
