import { describe, expect, it } from "vitest";
import type { TaskInfo } from "../../tools/capabilities.ts";
import { viewTaskRow } from "./task-row.ts";
import type { KeyEvent } from "../keys/key-event.ts";
import { lineWidth, lineText } from "../text/line.ts";
import type { StyledLine } from "../text/style.ts";
import {
  type ApprovalPrompt,
  type ApprovalBox,
  type ApprovalKeyResult,
  createApprovalBox,
  pressApproval,
  viewApproval,
} from "./approval.ts";
import { type ToolCallView, viewToolCall } from "./tool-call.ts";
import { viewDiff } from "./diff.ts";
import { createPicker, type PickerKeyResult, type Picker, pressPicker, rankOptions, viewPicker } from "./picker.ts";
import { viewSpinner } from "./spinner.ts";

const texts = (lines: readonly StyledLine[]): readonly string[] => lines.map((line) => lineText(line).trimEnd());
const key = (chord: string): KeyEvent => ({ type: "key", chord });
const typed = (text: string): KeyEvent => ({ type: "text", text });

const patch = [
  "--- src/a.ts",
  "+++ src/a.ts",
  "@@ -10,4 +10,5 @@",
  " function a() {",
  "-  return one;",
  "+  return two;",
  "+  // more",
  " }",
  " ",
  "@@ -40,2 +41,1 @@ class B",
  " x",
  "-y",
  "",
].join("\n");

describe("the title of a tool call", () => {
  it.each([
    ["Write src/a b.ts", "/home/you/src/a b.ts", [["src/a b.ts", "file:///home/you/src/a%20b.ts"]]],
    ["Write other.ts", "/home/you/src/a.ts", []],
    ["Write xa.ts", "/home/you/a.ts", []],
  ])("links the path it shows, and nothing else: %s", (title, file, links) => {
    const lines = viewToolCall({ tool: "write_file", title, status: "success", output: "", file }, 80);
    expect(lines.flat().flatMap(({ text, style }) => (style.link === undefined ? [] : [[text, style.link]]))).toEqual(
      links,
    );
    expect(lines.map(lineText)).toEqual([`✓ write_file ${title}`]);
  });
});

describe("a diff", () => {
  it("shows numbered lines, and counts the lines between hunks", () => {
    expect(texts(viewDiff(patch, { width: 40 }))).toEqual([
      "src/a.ts",
      "   ⋯ 9 unchanged lines",
      "10   function a() {",
      "11 -   return one;",
      "11 +   return two;",
      "12 +   // more",
      "13   }",
      "14",
      "   ⋯ 26 unchanged lines class B",
      "41   x",
      "41 - y",
    ]);
  });

  it("marks changes within a line, over the whole width", () => {
    const [, removed, added] = viewDiff("--- a\n+++ a\n@@ -1 +1 @@\n-let a = one;\n+let a = two;\n", { width: 20 });
    const parts = (sign: string, word: string, background: "added" | "removed"): StyledLine => [
      { text: `1 ${sign} let a = `, style: { tone: background, background } },
      { text: word, style: { tone: background, background: `${background}-strong` } },
      { text: ";", style: { tone: background, background } },
      { text: "    ", style: { tone: background, background } },
    ];
    expect([removed, added]).toEqual([parts("-", "one", "removed"), parts("+", "two", "added")]);
  });

  it("marks nothing within lines that have little in common", () => {
    const lines = viewDiff("--- a\n+++ a\n@@ -1 +1 @@\n-first words here;\n+quite another thing;\n", { width: 30 });
    const backgrounds = new Set(lines.flat().map(({ style }) => style.background));
    expect([...backgrounds]).toEqual([undefined, "removed", "added"]);
  });

  it("names a new file and a deleted one", () => {
    expect(
      texts(viewDiff("--- /dev/null\n+++ new.ts\n@@ -0,0 +1,1 @@\n+x\n\\ No newline at end of file\n", { width: 30 })),
    ).toEqual(["new.ts (new)", "1 + x", "  No newline at end of file"]);
    expect(texts(viewDiff("--- old.ts\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", { width: 30 }))).toEqual([
      "old.ts",
      "1 - x",
    ]);
  });

  it("folds distant unchanged lines, and lines beyond the height", () => {
    const same = Array.from({ length: 10 }, (_, at) => ` line ${at + 1}`).join("\n");
    const long = `--- a\n+++ a\n@@ -1,11 +1,11 @@\n-old\n+new\n${same}\n`;
    expect(texts(viewDiff(long, { width: 30, context: 2 }))).toEqual([
      "a",
      " 1 - old",
      " 1 + new",
      " 2   line 1",
      " 3   line 2",
      "   ⋯ 8 unchanged lines",
    ]);
    expect(texts(viewDiff(long, { width: 30, height: 3 }))).toEqual(["a", " 1 - old", "… 5 more lines"]);
  });

  it("wraps long lines and hides nothing", () => {
    const lines = viewDiff(`--- a\n+++ a\n@@ -1 +1 @@\n-x\n+${" ".repeat(30)}; rm\u001b[8m -rf\n`, { width: 20 });
    expect(texts(lines)).toEqual(["a", "1 - x", "1 +", "                  ;", "    rm -rf"]);
  });

  it("shows lines that look like headers as what they are", () => {
    expect(texts(viewDiff("--- a\n+++ a\n@@ -1,2 +1,2 @@\n--- x\n+++ y\n @@ -1 +1 @@\n", { width: 30 }))).toEqual([
      "a",
      "1 - -- x",
      "1 + ++ y",
      "2   @@ -1 +1 @@",
    ]);
  });

  it("shows other text as it is", () => {
    expect(texts(viewDiff("Binary files differ", { width: 30 }))).toEqual(["  Binary files differ"]);
  });
});

describe("the spinner", () => {
  it("shows elapsed time and progress in one line", () => {
    expect(lineText(viewSpinner({ label: "Thinking", elapsed: 125_000, hint: "Esc to cancel" }, 60))).toBe(
      "⠙ Thinking (2m 5s · Esc to cancel)",
    );
    expect(lineText(viewSpinner({ label: "Loading", elapsed: 0, share: 0.256 }, 60))).toBe(
      "⠋ Loading [####------------] 26% (0s)",
    );
    expect(lineText(viewSpinner({ label: "A very long label", elapsed: 3_700_000 }, 12))).toBe("⠸ A very lo…");
  });
});

describe("a picker", () => {
  const options = Array.from({ length: 20 }, (_, at) => ({
    id: `m${at}`,
    label: `model-${at}`,
    detail: at === 3 ? "fast\u001b[31m" : "",
  }));
  const picker = createPicker(
    "Model",
    options.map(({ detail, ...rest }) => (detail === "" ? rest : { ...rest, detail })),
    "m3",
  );
  const after = (...events: readonly KeyEvent[]): Picker => {
    let state: PickerKeyResult = { type: "open", picker };
    for (const event of events) if (state.type === "open") state = pressPicker(state.picker, event);
    return state.type === "open" ? state.picker : picker;
  };

  it("scrolls to the focused option", () => {
    expect(texts(viewPicker(picker, { width: 30, height: 6 }))).toEqual([
      "Model",
      "  model-1",
      "  model-2",
      "› model-3  fast",
      "  model-4",
      "  4 of 20 ↓ · type to filter",
    ]);
    expect(viewPicker(after(key("end")), { width: 30, height: 6 }).map((line) => lineText(line).trimEnd())).toEqual([
      "Model",
      "  model-16",
      "  model-17",
      "  model-18",
      "› model-19",
      "  20 of 20 · type to filter",
    ]);
  });

  it("moves, wraps around and filters", () => {
    expect([
      after(key("up")).focus,
      after(key("home"), key("up")).focus,
      after(key("end"), key("down")).focus,
      after(key("pagedown")).focus,
    ]).toEqual([2, 19, 0, 13]);
    expect(texts(viewPicker(after(typed("1"), typed("9")), { width: 30, height: 6 }))).toEqual([
      "Model  19",
      "› model-19",
      "  1 of 1",
    ]);
    expect(after(typed("1"), typed("9"), key("backspace")).query).toBe("1");
  });

  it("lists some options only once something is typed, and a row for them only while nothing is", () => {
    const folded = createPicker("Model", [
      { id: "a", label: "ready-a" },
      { id: "b", label: "no-key-b", listed: "typed" },
      { id: "/login", label: "1 model needs a key", listed: "untyped" },
    ]);
    const typedB = pressPicker(folded, typed("b"));
    const rows = (state: Picker): readonly string[] => texts(viewPicker(state, { width: 30, height: 6 }));
    expect(rows(folded).map((row) => row.trimEnd())).toEqual([
      "Model",
      "› ready-a",
      "  1 model needs a key",
      "  1 of 2",
    ]);
    expect(rows(typedB.type === "open" ? typedB.picker : folded)[1]).toContain("no-key-b");
  });

  it("keeps options that can be used first while something is typed, unless only others contain it", () => {
    const models = createPicker("Model", [
      { id: "openai", label: "openai/gpt-5" },
      { id: "google", label: "google/flash-preview-5" },
      { id: "azure", label: "azure/gpt-5", listed: "typed" },
      { id: "flash", label: "azure/f-5", listed: "typed" },
    ]);
    const ids = (query: string): readonly string[] => rankOptions(query, models.options).map(({ item: { id } }) => id);
    expect([ids("gpt-5"), ids("f-5")]).toEqual([
      ["openai", "azure"],
      ["flash", "google"],
    ]);
  });

  it("puts a name typed in full first, and keeps the order of options that match equally well", () => {
    const labels = ["openai/gpt-5.6", "openai/gpt-5", "openai/gpt-4", "google/gpt-like-model"];
    const ids = (query: string): readonly string[] =>
      rankOptions(
        query,
        labels.map((label) => ({ id: label, label })),
      ).map(({ item }) => item.id);
    expect([ids("gpt"), ids("gpt-5"), ids("gpt-4")]).toEqual([
      labels,
      ["openai/gpt-5", "openai/gpt-5.6"],
      ["openai/gpt-4"],
    ]);
  });

  it("shows details in a column, except behind a label of more than half of the width", () => {
    const models = createPicker("Model", [
      { id: "a", label: "short", detail: "1M" },
      { id: "b", label: "a-longer-one", detail: "128k" },
      { id: "c", label: "a-label-of-more-than-half", detail: "8k" },
      { id: "d", label: "none" },
    ]);
    expect(viewPicker(models, { width: 40, height: 8 }).map((each) => lineText(each).trimEnd())).toEqual([
      "Model",
      "› short         1M",
      "  a-longer-one  128k",
      "  a-label-of-more-than-half  8k",
      "  none",
      "  1 of 4",
    ]);
  });

  it("picks or cancels, and picks nothing without a match", () => {
    expect(pressPicker(picker, key("enter"))).toEqual({
      type: "picked",
      option: { id: "m3", label: "model-3", detail: "fast\u001b[31m" },
    });
    expect(pressPicker(picker, key("escape"))).toEqual({ type: "cancelled" });
    expect(pressPicker(after(typed("zzz")), key("enter")).type).toBe("open");
    expect(texts(viewPicker(after(typed("zzz")), { width: 30, height: 6 }))).toEqual(["Model  zzz", "  no matches"]);
  });
});

describe("a tool call", () => {
  const call: ToolCallView = {
    tool: "run_shell_command",
    title: "npm test",
    status: "running",
    elapsed: 7000,
    output: Array.from({ length: 8 }, (_, at) => `line ${at}`).join("\n"),
  };

  it("shows the last lines of a running call", () => {
    expect(texts(viewToolCall(call, 60))).toEqual([
      "◐ run_shell_command npm test 7s",
      "  … 3 earlier lines",
      "  line 3",
      "  line 4",
      "  line 5",
      "  line 6",
      "  line 7",
    ]);
  });

  it("shows no time of a question: it is the user's", () => {
    for (const tool of ["ask_user", "present_plan"])
      expect(texts(viewToolCall({ ...call, tool, title: "Plan", output: "" }, 60))).toEqual([`◐ ${tool} Plan`]);
  });

  it("hides no single line, as naming it takes as much room", () => {
    const output = "one\ntwo\nthree\nfour\nfive\nsix";
    const rows = ["  one", "  two", "  three", "  four", "  five", "  six"];
    expect(texts(viewToolCall({ ...call, output, status: "success" }, 60)).slice(1)).toEqual(rows);
    expect(texts(viewToolCall({ ...call, output, tool: "glob", status: "success" }, 60)).slice(1)).toEqual(rows);
  });

  it("shows the last lines of a finished command, the first of another result, and names the key for all", () => {
    expect(texts(viewToolCall({ ...call, status: "success" }, 60)).slice(1, 3)).toEqual([
      "  … 3 earlier lines (Ctrl-O to expand)",
      "  line 3",
    ]);
    expect(texts(viewToolCall({ ...call, tool: "glob", status: "success" }, 60)).slice(4)).toEqual([
      "  line 3",
      "  line 4",
      "  … 3 more lines (Ctrl-O to expand)",
    ]);
    expect(viewToolCall({ ...call, status: "error", isExpanded: true }, 60).length).toBe(9);
    expect(texts(viewToolCall({ tool: "read_file", title: "", status: "success", output: "" }, 60))).toEqual([
      "✓ read_file",
    ]);
  });

  it("shows a long command in up to three lines once it has ended, and all of it expanded", () => {
    const long = { ...call, title: "npm run build && npm test -- --reporter dot && git status", output: "" };
    const head = (view: Partial<ToolCallView>): readonly string[] =>
      texts(viewToolCall({ ...long, elapsed: 0, ...view }, 30)).map((row) => row.trimEnd());
    expect(head({})).toEqual(["◐ run_shell_command npm run b…"]);
    expect(head({ status: "success" })).toEqual([
      "✓ run_shell_command npm run",
      "  build && npm test --",
      "  --reporter dot && git status",
    ]);
    expect(head({ status: "success", title: `${long.title} && echo done` }).at(-1)).toBe("  --reporter dot && git …");
    expect(head({ status: "success", isExpanded: true, title: `${long.title} && echo done` }).at(-1)).toBe(
      "  status && echo done",
    );
  });

  it("wraps the reason of a failure, and shows no empty lines above output", () => {
    const failed = { ...call, tool: "write_file", title: "/etc/a", elapsed: 0, status: "error" } as const;
    const reason = `"/etc/a" is outside the workspace. Use a path inside /project`;
    const rows = (output: string): readonly string[] =>
      texts(viewToolCall({ ...failed, output }, 40)).map((row) => row.trimEnd());
    expect(rows(reason).slice(1)).toEqual(['  "/etc/a" is outside the workspace. Use', "  a path inside /project"]);
    expect(rows("word ".repeat(100))).toHaveLength(6);
    expect(rows("word ".repeat(100)).at(-1)).toMatch(/word…$/);
    expect(texts(viewToolCall({ ...call, status: "success", output: "\n \n> test\n" }, 40)).slice(1)).toEqual([
      "  > test",
    ]);
  });

  it("stays within the width, sanitized", () => {
    const hostile = viewToolCall(
      { ...call, title: "x\u001b]0;t\u0007".repeat(50), output: `${"y".repeat(500)}\r\u001b[2Jz` },
      40,
    );
    expect(hostile.filter((line) => lineWidth(line) > 40)).toEqual([]);
    expect(texts(hostile).join("")).not.toMatch(/\p{Cc}/u);
  });
});

describe("the row of background tasks", () => {
  it("names the command that lists them, however long a title is", () => {
    const task: TaskInfo = { id: "bg-1", kind: "command", title: "npm run ".repeat(9), status: "running" } as TaskInfo;
    expect(texts(viewTaskRow([task], 40))).toEqual(["◐ Background: bg-1 npm run np…  (/tasks)"]);
  });

  it("counts several, and names as many as there is room for", () => {
    const tasks = ["npm run dev -- --port 3000", "ls", "cargo watch"].map(
      (title, at) => ({ id: `bg-${at + 1}`, kind: "command", title, status: "running" }) as TaskInfo,
    );
    expect([40, 80].map((width) => texts(viewTaskRow(tasks, width))[0])).toEqual([
      "◐ Background (3): bg-1 npm ru…  (/tasks)",
      "◐ Background (3): bg-1 npm run dev -- --por…  bg-2 ls  (/tasks)",
    ]);
    expect(
      texts(
        viewTaskRow(
          tasks.map((each) => ({ ...each, status: "done" }) as TaskInfo),
          80,
        ),
      ),
    ).toEqual([]);
  });
});

describe("an approval", () => {
  const approval: ApprovalPrompt = {
    title: "run_shell_command",
    subject: { type: "command", command: `ls${" ".repeat(200)}; rm -rf x\u202e`, folder: "/project" },
    reasons: ["deletes files"],
    choices: [
      { id: "once", key: "y", label: "Yes" },
      { id: "always", key: "a", label: "Yes, always for rm" },
    ],
    waiting: 1,
  };
  const box = createApprovalBox(approval);
  const open = (state: ApprovalKeyResult): ApprovalBox => (state.type === "open" ? state.box : box);

  it("shows the whole command, the title and the reasons, with no focused", () => {
    const { lines, cursor } = viewApproval(box, 40);
    expect([texts(lines), cursor]).toEqual([
      [
        "╭─ run_shell_command ──────────────────╮",
        "│ $ ls ⟨200 spaces⟩ ; rm -rf x<U+202E> │",
        "│ in /project                          │",
        "│ ! deletes files                      │",
        "│   y Yes                              │",
        "│   a Yes, always for rm               │",
        "│ › n No  (Tab to add a reason)        │",
        "╰─ 1 more waiting ─────────────────────╯",
      ],
      undefined,
    ]);
  });

  it("is refused by Enter alone, and allowed only by key or focus", () => {
    expect(pressApproval(box, key("enter"))).toEqual({ type: "refused", reason: "" });
    expect(pressApproval(box, typed("y"))).toEqual({ type: "chosen", id: "once" });
    expect(pressApproval(open(pressApproval(box, key("down"))), key("enter"))).toEqual({ type: "chosen", id: "once" });
    expect(pressApproval(open(pressApproval(box, key("up"))), key("enter"))).toEqual({ type: "chosen", id: "always" });
    expect(pressApproval(box, key("escape"))).toEqual({ type: "cancelled" });
    expect(pressApproval(box, typed("yes"))).toEqual({ type: "open", box });
    expect(pressApproval(box, { type: "paste", text: "y" })).toEqual({ type: "open", box });
  });

  it("takes a reason, in which no key answers", () => {
    const asked = viewApproval(open(pressApproval(box, typed("n"))), 40);
    expect([texts(asked.lines)[6], asked.cursor]).toEqual([
      "│ › n No: type a reason, or Enter      │",
      { row: 6, column: 10 },
    ]);
    const typing = [key("tab"), typed("why"), typed("y"), key("backspace"), typed(" not")].reduce(
      (state: ApprovalBox, event) => open(pressApproval(state, event)),
      box,
    );
    expect(viewApproval(typing, 40).cursor).toEqual({ row: 6, column: 17 });
    expect(texts(viewApproval(typing, 40).lines)[6]).toBe("│ › n No: why not                      │");
    expect(pressApproval(typing, key("enter"))).toEqual({ type: "refused", reason: "why not" });
  });

  it("shows the resolved path, and the whole diff", () => {
    const edited = createApprovalBox({
      ...approval,
      title: "replace",
      subject: { type: "diff", path: "a.ts", target: "/etc/a.ts", patch },
      waiting: 0,
      reasons: [],
    });
    expect(texts(viewApproval(edited, 40).lines).slice(0, 4)).toEqual([
      "╭─ replace ────────────────────────────╮",
      "│ a.ts resolves to /etc/a.ts           │",
      "│ src/a.ts                             │",
      "│    ⋯ 9 unchanged lines               │",
    ]);
  });

  it("has yes in focus for what is ordinary, and says the effects, the reason and the rule that ends it", () => {
    const routine = createApprovalBox({
      title: "Run this command?",
      subject: { type: "command", command: "npm test", folder: "" },
      effects: "runs npm",
      reasons: ["`npm test` is not on your allow list."],
      rule: "run_shell_command(npm test)",
      isRoutine: true,
      choices: approval.choices,
      waiting: 0,
    });
    expect(texts(viewApproval(routine, 60).lines)).toEqual([
      "╭─ Run this command? ──────────────────────────────────────╮",
      "│ $ npm test                                               │",
      "│ Effects: runs npm                                        │",
      "│ `npm test` is not on your allow list. Rule that allows   │",
      "│ it: run_shell_command(npm test)                          │",
      "│ › y Yes                                                  │",
      "│   a Yes, always for rm                                   │",
      "│   n No  (Tab to add a reason)                            │",
      "╰──────────────────────────────────────────────────────────╯",
    ]);
    const typing = open(pressApproval(open(pressApproval(routine, key("tab"))), typed("use b")));
    expect(pressApproval(typing, key("enter"))).toEqual({ type: "refused", reason: "use b" });
    expect(pressApproval(routine, key("enter"))).toEqual({ type: "chosen", id: "once" });
    expect(pressApproval(open(pressApproval(routine, key("up"))), key("enter"))).toEqual({
      type: "refused",
      reason: "",
    });
  });
});
