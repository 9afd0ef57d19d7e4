import { describe, expect, it } from "vitest";
import { call, cancelled, done, failed, text, thinking } from "../conversation/builders.ts";
import type { Conversation } from "../conversation/entry.ts";
import { Ledger } from "../conversation/ledger.ts";
import { storeBytes, type StoredMedia } from "../conversation/media.ts";
import { UnsupportedMediaError } from "./place.ts";
import { render } from "./render.ts";
import { IncrementalRenderer } from "./incremental-renderer.ts";
import { recordDecisions } from "./record-decisions.ts";
import type { Step } from "./step.ts";
import type { RenderPolicy, Target } from "./target.ts";

const target: Target = {
  provider: "here",
  model: "one",
  ids: {
    name: "test",
    legal: /^[a-z]+_\d+$/,
    project: (ordinal, _tool, attempt) => `call_${ordinal}${"0".repeat(attempt)}`,
  },
  toolName: /^[a-z_]{1,20}$/,
  media: {
    result: { image: { types: ["image/png"] } },
    errorResult: {},
    user: { image: { types: ["image/"] }, document: { types: ["application/pdf"], uri: ["https://"] } },
    model: {},
  },
  thinking: { form: "signed", readers: [{ reader: /^one$/, of: /^old$/ }], bound: false },
  order: { userFirst: true, userLast: true, alternate: false, bridgeAfterResults: false },
};
const here = { provider: "here", model: "one" };
const there = { provider: "there", model: "two" };

const picture = storeBytes(new Uint8Array([1]), { mimeType: "image/png" });
const gif = storeBytes(new Uint8Array([2]), { mimeType: "image/gif" });
const song = storeBytes(new Uint8Array([3]), { mimeType: "audio/wav" });
const table = storeBytes(new TextEncoder().encode("a,b"), { mimeType: "text/csv", name: "t.csv" });

const conversation = (write: (ledger: Ledger) => void, ...stored: readonly StoredMedia[]): Conversation => {
  const ledger = new Ledger();
  write(ledger);
  return {
    version: 1,
    entries: ledger.entries,
    blobs: Object.fromEntries(stored.map(({ blob }) => [blob.hash, blob.base64])),
  };
};

/** A transcript in one line a step. */
const sketch = (steps: readonly Step[]): readonly string[] =>
  steps.map(
    (step) =>
      `${step.role}: ${step.parts.map((part) => (part.type === "exchange" ? `${part.tool}#${part.id}=${part.result.status}(${part.result.content.map(word).join(" + ")})` : word(part))).join(" | ")}`,
  );

const word = (part: { readonly type: string }): string =>
  "text" in part
    ? part.type === "text"
      ? String(part.text)
      : `${part.type} ${String(part.text)}`
    : "mimeType" in part
      ? `<${String(part.mimeType)}>`
      : JSON.stringify("value" in part ? part.value : part);

const show = (
  given: Conversation,
  change: Partial<Target> = {},
  policy: Partial<RenderPolicy> = { unsupportedMedia: "stub" },
) => {
  const { transcript, report } = render(given, { ...target, ...change }, policy);
  return { steps: sketch(transcript), kinds: report.notes.map(({ kind }) => kind), report };
};

describe("pairing", () => {
  it("tells the model neutrally about a call that never got a result", () => {
    const { steps, kinds } = show(
      conversation((ledger) => {
        ledger.user([text("list")]);
        const [, second] = ledger.model(here, [call("a"), call("b")]);
        ledger.complete(second!.id, "b", done("b.txt"));
        ledger.user([text("go on")]);
      }),
    );
    expect(steps).toEqual([
      "user: list",
      "model: a#call_1=interrupted(No result was recorded: the run was interrupted before this call finished.) | b#call_2=complete(b.txt)",
      "user: go on",
    ]);
    expect(kinds).toEqual(["moved-text", "synthetic-result"]);
  });

  it("brings late results to their calls and puts words said meanwhile after the batch", () => {
    const { steps, kinds } = show(
      conversation((ledger) => {
        ledger.user([text("list")]);
        const [first, second] = ledger.model(here, [call("a"), call("b")]);
        ledger.complete(first!.id, "a", done("A"));
        ledger.user([text("hurry")]);
        ledger.complete(second!.id, "b", cancelled());
      }),
    );
    expect(steps).toEqual([
      "user: list",
      "model: a#call_1=complete(A) | b#call_2=cancelled(The user cancelled this call.)",
      "user: hurry",
    ]);
    expect(kinds).toEqual(["moved-text", "moved-result"]);
  });

  it("shows a result without a call, and a second end of one call, as labelled words", () => {
    const { steps, kinds } = show(
      conversation((ledger) => {
        ledger.user([text("list")]);
        const [made] = ledger.model(here, [call("a")]);
        ledger.complete(made!.id, "a", done("A"));
        ledger.complete(made!.id, "a", done("B"));
        ledger.orphan("ghost", done("boo"));
      }),
    );
    expect(steps).toEqual([
      "user: list",
      "model: a#call_1=complete(A)",
      "user: (Another result of a was recorded later:) | B",
      "user: (A result of ghost was recorded without a call:) | boo",
    ]);
    expect(kinds).toEqual(["conflicting-result", "orphan-result"]);
  });

  it("answers unreadable arguments with an error the model can read, and sends them back as an object", () => {
    const { transcript } = render(
      conversation((ledger) => ledger.model(here, [{ type: "call", tool: "a", input: { text: '{"p' } }])),
      target,
    );
    expect(transcript[1]).toEqual({
      role: "model",
      parts: [
        {
          type: "exchange",
          call: "hist_tool_1",
          id: "call_1",
          tool: "a",
          input: { unreadable_arguments: '{"p' },
          inputText: undefined,
          seal: undefined,
          result: {
            synthetic: true,
            status: "error",
            content: [text("The arguments of this call were not a valid JSON object, so the tool was not run.")],
          },
        },
      ],
    });
  });

  it("joins two messages of the model in a row, and drops one that says nothing", () => {
    const { steps, kinds } = show(
      conversation((ledger) => {
        ledger.user([text("hi")]);
        ledger.model(here, [text("a")]);
        ledger.user([text("  ")]);
        ledger.model(there, [thinking("hm")]);
        ledger.model(there, [text("b")]);
        ledger.user([text("bye")]);
      }),
    );
    expect(steps).toEqual(["user: hi", "model: a | b", "user: bye"]);
    expect(kinds).toEqual(["blank-text", "thinking-dropped", "merged-messages"]);
  });
});

describe("order", () => {
  const talk = conversation((ledger) => ledger.model(here, [text("hello")]));

  it("frames the model's words where the API wants the user first and last", () => {
    expect(show(talk).steps).toEqual(["user: (The conversation begins here.)", "model: hello", "user: Continue."]);
    expect(show(talk, { order: { ...target.order, userFirst: false, userLast: false } }).steps).toEqual([
      "model: hello",
    ]);
  });

  it("puts what a session opens with and the first words of the person in one message", () => {
    const opened = conversation((ledger) => {
      ledger.entries.push({ type: "notice", text: "The workspace is /project.", opens: true });
      ledger.entries.push({ type: "notice", text: "It is Monday.", opens: true });
      ledger.user([text("hi")]);
      ledger.notice("It is Tuesday.");
    });
    expect(show(opened).steps).toEqual([
      "user: [Notice] The workspace is /project. | [Notice] It is Monday. | hi",
      "user: [Notice] It is Tuesday.",
    ]);
  });

  it("hands the word over when nothing was said at all", () => {
    expect(show(conversation(() => {})).steps).toEqual(["user: Continue."]);
  });

  it("puts a word of the model between results and the user where an API wants results alone", () => {
    const twice = conversation((ledger) => {
      ledger.user([text("a")]);
      ledger.user([text("b")]);
      const [made] = ledger.model(here, [call("t")]);
      ledger.complete(made!.id, "t", done("T"));
      ledger.user([text("c")]);
    });
    const strict = { order: { ...target.order, bridgeAfterResults: true } };
    expect(show(twice, strict).steps).toEqual([
      "user: a",
      "user: b",
      "model: t#call_1=complete(T)",
      "model: .",
      "user: c",
    ]);
  });
});

describe("words after a call", () => {
  const chatty = conversation((ledger) => {
    ledger.user([text("hi")]);
    const made = ledger.model(there, [text("a"), call("t"), text("b"), call("u"), text("c")]);
    for (const { id, tool } of made) ledger.complete(id, tool, done("T"));
  });

  it("stand before the calls where the API takes nothing behind one, and the report says so", () => {
    const { steps, kinds } = show(chatty, { callsLast: true });
    expect(steps).toEqual(["user: hi", "model: a | b | c | t#call_1=complete(T) | u#call_2=complete(T)"]);
    expect(kinds).toEqual(["text-before-calls"]);
  });

  it("stay where they were said everywhere else", () => {
    const { steps, kinds } = show(chatty);
    expect(steps).toEqual(["user: hi", "model: a | t#call_1=complete(T) | b | u#call_2=complete(T) | c"]);
    expect(kinds).toEqual([]);
  });
});

describe("thinking", () => {
  const thought = conversation((ledger) => {
    ledger.user([text("hi")]);
    ledger.model(here, [{ type: "thinking", text: "own", seal: { signature: "s" } }, text("a")]);
    ledger.user([text("x")]);
    ledger.model({ provider: "here", model: "old" }, [
      { type: "thinking", text: "older", seal: { signature: "t" } },
      text("b"),
    ]);
    ledger.user([text("y")]);
    ledger.model(there, [{ type: "thinking", text: "foreign", seal: { signature: "u" } }, text("c")]);
    ledger.user([text("z")]);
  });

  it("keeps what the model can read: its own, and what its readability says", () => {
    expect(show(thought).steps.filter((step) => step.startsWith("model"))).toEqual([
      "model: thinking own | a",
      "model: thinking older | b",
      "model: c",
    ]);
  });

  it.each([
    ["its own", here, true],
    ["its own, from the same account", { ...here, account: "a" }, true],
    ["its own name at another provider", { ...here, provider: "there" }, false],
    ["another model of its provider", { ...here, model: "other" }, false],
    ["its own, from another account", { ...here, account: "b" }, false],
  ])("goes back only to who can read it: %s", (_whose, origin, kept) => {
    const sealed = conversation((ledger) => {
      ledger.user([text("hi")]);
      ledger.model(origin, [{ type: "thinking", text: "hm", seal: { signature: "s" } }, text("a")]);
      ledger.user([text("x")]);
    });
    expect(show(sealed, { account: "a" }).steps[1]).toBe(kept ? "model: thinking hm | a" : "model: a");
  });

  it("says that an answer of thinking alone is left out, and so are thoughts this API does not read back", () => {
    const silent = conversation((ledger) => {
      ledger.user([text("hi")]);
      ledger.model(here, [{ type: "thinking", text: "own", seal: { signature: "s" } }]);
      ledger.user([text("well?")]);
    });
    expect(show(silent).kinds).toEqual(["thinking-dropped"]);
    const form = { ...target.thinking, form: "seal" } as const;
    expect(show(silent, { thinking: form }).kinds).toEqual(["thinking-dropped"]);
  });

  it("shows foreign thinking as words when asked to, and none at all when asked for none", () => {
    expect(show(thought, {}, { thinking: "text" }).steps[5]).toBe("model: <thinking>\nforeign\n</thinking> | c");
    expect(show(thought, {}, { thinking: "none" }).steps.filter((step) => step.includes("thinking"))).toEqual([]);
  });

  it("fills in what an API demands, always with the same bytes", () => {
    const calls = conversation((ledger) => {
      ledger.user([text("hi")]);
      ledger.model(there, [call("a"), call("b")]);
    });
    const filled = render(calls, { ...target, thinking: { form: "seal", readers: [], bound: false, filler: "skip" } })
      .transcript[1];
    expect(filled?.parts.map((part) => (part.type === "exchange" ? part.seal?.signature : undefined))).toEqual([
      "skip",
      undefined,
    ]);
    const backfilled = show(calls, {
      thinking: { form: "plain", readers: [], bound: false, backfill: { text: " ", on: "calls" } },
    });
    expect(backfilled.steps[1]).toMatch(/^model: thinking {3}\| a#/);
    expect(backfilled.kinds).toContain("reasoning-backfill");
  });

  it("sends thinking bound to its prefix only while the prefix is the same", () => {
    const bound: Target = { ...target, thinking: { ...target.thinking, bound: true } };
    const ledger = new Ledger();
    ledger.user([text("hi")]);
    const rendering = new IncrementalRenderer<Step>({
      target: bound,
      policy: { thinking: "own", unsupportedMedia: "stub" },
      blobs: {},
      encode: (step) => [step],
    });
    rendering.add(ledger.entries);
    ledger.model(here, [{ type: "thinking", text: "own", seal: { signature: "s" } }, text("a")], rendering.digest());
    ledger.user([text("more")]);

    expect(sketch(render({ version: 1, entries: ledger.entries, blobs: {} }, bound).transcript)[1]).toBe(
      "model: thinking own | a",
    );
    const edited = ledger.entries.with(0, { type: "user", parts: [text("ho")] });
    expect(sketch(render({ version: 1, entries: edited, blobs: {} }, bound).transcript)[1]).toBe("model: a");
  });
});

describe("media", () => {
  const returned = (status: "done" | "failed", ...stored: readonly StoredMedia[]): Conversation =>
    conversation(
      (ledger) => {
        ledger.user([text("snap")]);
        const [made] = ledger.model(here, [call("snap")]);
        const content = [text("before"), ...stored.map(({ media }) => media), text("after")];
        ledger.complete(made!.id, "snap", status === "done" ? done(...content) : failed(...content));
      },
      ...stored,
    );

  it("goes inside the result where it can, in its place", () => {
    expect(show(returned("done", picture)).steps[1]).toBe("model: snap#call_1=complete(before + <image/png> + after)");
  });

  it("goes after the whole batch where the result cannot hold it", () => {
    const { steps, kinds } = show(returned("done", gif, picture));
    expect(steps.slice(1)).toEqual([
      `model: snap#call_1=complete(before + See file ${gif.media.id} + <image/png> + after)`,
      `user: This is file ${gif.media.id}: | <image/gif>`,
    ]);
    expect(kinds).toEqual(["media-after"]);
  });

  it("leaves a failed result when such results hold words only", () => {
    expect(show(returned("failed", picture)).steps.slice(1)).toEqual([
      `model: snap#call_1=error(before + See file ${picture.media.id} + after)`,
      `user: This is file ${picture.media.id}: | <image/png>`,
    ]);
  });

  it("becomes a stub when the target cannot accept it, or an error when the policy says so", () => {
    const { steps, kinds } = show(returned("done", song));
    expect(steps[1]).toBe(
      `model: snap#call_1=complete(before + [audio ${song.media.id} not shown (audio/wav, 1 bytes): this model does not take audio here] + after)`,
    );
    expect(kinds).toEqual(["media-stub"]);
    expect(() => render(returned("done", song), target)).toThrow(UnsupportedMediaError);
    expect(() => render(returned("done", song), target)).toThrow(
      /here\/one cannot take audio \(audio\/wav\) from a result of snap/,
    );
  });

  it("is shown as text when it is text", () => {
    expect(show(returned("done", table)).steps[1]).toContain(`File ${table.media.id} "t.csv" (text/csv):\na,b`);
  });

  it("is named when there is nothing in it", () => {
    const nothing = storeBytes(new Uint8Array(), { mimeType: "image/png" });
    expect(show(returned("done", nothing)).steps[1]).toContain("(image/png, 0 bytes): it is empty]");
  });

  it("is named, with a note, when its bytes are gone", () => {
    const { steps, kinds } = show({ ...returned("done", picture), blobs: {} });
    expect(steps[1]).toContain("its bytes are no longer stored");
    expect(kinds).toEqual(["missing-blob"]);
  });

  it("stops at the number a request may hold, oldest first", () => {
    const few = { media: { ...target.media, result: { image: { types: ["image/png"], perRequest: 1 } }, user: {} } };
    expect(show(returned("done", picture, picture), few).steps[1]).toContain("<image/png> + [image");
  });
});

describe("a model that knows no tools", () => {
  it("gets calls and their results as text, files included", () => {
    const told = conversation((ledger) => {
      ledger.user([text("snap")]);
      const [made] = ledger.model(here, [text("I will."), call("snap", { n: 1 }), call("gone")]);
      ledger.complete(made!.id, "snap", done("here", picture.media));
    }, picture);
    const { steps, report, kinds } = show(told, { callsAsText: true });
    expect(steps).toEqual([
      "user: snap",
      'model: I will. | (Called snap with {"n":1}) | (Called gone with {})',
      "user: (Result of snap:) | here | <image/png> | (gone ended with interrupted:) | No result was recorded: the run was interrupted before this call finished.",
    ]);
    expect(report.calls).toEqual([]);
    expect(kinds).toEqual(["synthetic-result", "calls-as-text", "calls-as-text"]);
  });
});

describe("names", () => {
  it("keeps a legal id of the same provider and derives all others, never twice the same", () => {
    const named = conversation((ledger) => {
      ledger.user([text("hi")]);
      ledger.model(here, [call("a", {}, "call_2"), call("a", {}, "call_2"), call("a", {}, "way too long!")]);
      ledger.model(there, [call("a", {}, "call_9")]);
    });
    const { report, kinds } = show(named);
    expect(report.calls.map(({ id }) => id)).toEqual(["call_2", "call_20", "call_3", "call_4"]);
    expect(kinds.filter((kind) => kind === "id-projected")).toHaveLength(2);
  });

  it("gives illegal tool names an alias, in declarations and history alike", () => {
    const rendering = new IncrementalRenderer<Step>({
      target,
      policy: { thinking: "own", unsupportedMedia: "stub" },
      blobs: {},
      encode: (step) => [step],
      tools: ["a.b", "a_b"],
    });
    const alias = rendering.names.toolName("a.b");
    expect(alias).not.toBe("a_b");
    expect(rendering.names.originalTool(alias)).toBe("a.b");
    expect(rendering.names.toolName("a_b")).toBe("a_b");
  });
});

describe("keys", () => {
  it("without a letter get a free name where the API refuses them", () => {
    const nameless = conversation((ledger) => {
      ledger.user([text("hi")]);
      ledger.model(here, [call("a", { "": 1, _: 2, list: [{ "": { "": 3 } }] })]);
    });
    const inputs = (change: Partial<Target>): unknown =>
      render(nameless, { ...target, ...change }).transcript[1]?.parts.map((part) =>
        part.type === "exchange" ? part.input : part,
      );
    expect(inputs({ namedKeys: true })).toEqual([{ __: 1, _: 2, list: [{ _: { _: 3 } }] }]);
    expect(inputs({})).toEqual([{ "": 1, _: 2, list: [{ "": { "": 3 } }] }]);
    expect(show(nameless, { namedKeys: true }).kinds).toContain("key-renamed");
  });
});

describe("compaction", () => {
  it("shows the summary, never parts a call from its result, and changes no ids", () => {
    const { steps, report } = show(
      conversation((ledger) => {
        ledger.user([text("one")]);
        ledger.complete(ledger.model(here, [call("a")])[0]!.id, "a", done("A"));
        ledger.user([text("two")]);
        const batch = ledger.model(here, [call("b"), call("c")]);
        ledger.complete(batch[0]!.id, "b", done("B"));
        ledger.compact("earlier", 4);
        ledger.complete(batch[1]!.id, "c", done("C"));
        ledger.compact("still earlier", 5);
        ledger.user([text("three")]);
      }),
    );
    expect(steps).toEqual([
      "user: Summary of the conversation so far:\n\nstill earlier",
      "model: b#call_2=complete(B) | c#call_3=complete(C)",
      "user: three",
    ]);
    expect(report.calls.map(({ call }) => call)).toEqual(["hist_tool_2", "hist_tool_3"]);
  });

  it("keeps the notice a conversation opens with before the summary", () => {
    const { steps } = show(
      conversation((ledger) => {
        ledger.notice("The workspace is /project.");
        ledger.notice("All of its files: ...");
        ledger.user([text("one")]);
        ledger.model(here, [text("first")]);
        ledger.compact("earlier", 3);
        ledger.user([text("two")]);
        ledger.compact("still earlier", 5);
        ledger.user([text("three")]);
      }),
    );
    expect(steps).toEqual([
      "user: [Notice] The workspace is /project.",
      "user: Summary of the conversation so far:\n\nstill earlier",
      "user: two",
      "user: three",
    ]);
  });
});

describe("settle", () => {
  it("writes down what rendering would make up, so that a late result changes nothing that was sent", () => {
    const ledger = new Ledger();
    ledger.user([text("go")]);
    const [made] = ledger.model(here, [call("a")]);
    recordDecisions(ledger);
    const sent = show({ version: 1, entries: [...ledger.entries], blobs: {} });
    ledger.complete(made!.id, "a", done("late"));
    const later = show({ version: 1, entries: ledger.entries, blobs: {} });

    expect(sent.kinds).toEqual([]);
    expect(later.steps.slice(0, 2)).toEqual(sent.steps);
    expect(later.steps[2]).toBe("user: (Another result of a was recorded later:) | late");
  });
});
