import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "../../src/conversation/entry.ts";
import { openSessionStore } from "../../src/session/store/store.ts";
import type { ModelFunction } from "../../src/sim/family.ts";
import type { SimModelRequest, ModelReply } from "../../src/sim/model/types.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { ensureBuilt } from "../built.ts";
import { openProgramStage, type ProgramResult, type ProgramStage } from "../support/agent-program.ts";

/*
 * Sessions begun with the built program on one protocol, and taken up on every other: after a whole turn, after
 * Ctrl-C and after a kill with one call finished and one running.
 */

const protocols = ["anthropic", "openai", "google", "openai-chat"] as const;

const begin: ModelReply = {
  parts: [
    { type: "think", text: "I look, and I run." },
    { type: "say", text: "Looking." },
    { type: "call", tool: "run_shell_command", input: { command: "echo the-finished-result" } },
    { type: "call", tool: "read_file", input: { path: "dot.png" } },
  ],
};

const slow = { type: "call", tool: "run_shell_command", input: { command: "sleep 4" } } as const;

const speak: ModelFunction = ({ turns }) => {
  const text = turns.flatMap((turn) => (turn.by === "user" ? [turn.text] : [])).join("\n");
  if (text.includes("Take it up")) return { parts: [{ type: "say", text: "Taken up." }] };
  if (turns.some(({ by }) => by === "tools")) return { parts: [{ type: "say", text: "Done." }] };
  return text.includes("Begin slowly") ? { parts: [...begin.parts, slow] } : begin;
};

let stage: ProgramStage;
beforeAll(async () => {
  ensureBuilt();
  stage = await openProgramStage(protocols, { script: speak });
});
afterAll(() => stage.close());

const yolo = ["--approval-mode", "yolo", "-o", "stream-json"];

type Begun = { readonly id: string; readonly home: string; readonly ran: ProgramResult };

/** Begins a session in a home of its own; a signal is sent once two calls have ended and one runs. */
const started = async (provider: string, words: string, signal?: "SIGINT" | "SIGKILL"): Promise<Begun> => {
  const home = join(stage.home, `${provider}-${signal ?? "whole"}`);
  mkdirSync(home);
  let results = 0;
  const ran = await stage.run(["-p", words, "-m", provider, ...yolo], {
    env: { PARLEY_HOME: home },
    line: (line, child) => {
      if (!line.includes('"tool_result"')) return;
      results += 1;
      if (results === 2 && signal !== undefined) child.kill(signal);
    },
  });
  const [first] = ran.lines();
  return { id: String(first?.["session_id"]), home, ran };
};

type TakenUp = {
  readonly ran: ProgramResult;
  readonly heard: SimModelRequest | undefined;
  readonly body: string;
  readonly refused: readonly unknown[];
};

/** Takes a copy of a session up on a provider. */
const takenUp = async ({ id, home }: Begun, provider: string): Promise<TakenUp> => {
  const copy = `${home}-on-${provider}`;
  cpSync(home, copy, { recursive: true });
  const from = stage.log.length;
  const ran = await stage.run(["-p", "Take it up.", "-m", provider, "--resume", id, ...yolo], {
    env: { PARLEY_HOME: copy },
  });
  const requests = stage.log.slice(from);
  return {
    ran,
    heard: stage.heard.at(-1),
    body: JSON.stringify(requests.at(-1)?.entry.body),
    refused: requests.filter(({ entry }) => entry.verdict === "refused"),
  };
};

const entriesOf = async ({ id, home }: Begun): Promise<readonly Entry[]> =>
  (await openSessionStore(realWorld({}), { home }).read(id)).entries;

/** What only its maker can read. */
const sealsOf = (entries: readonly Entry[]): readonly string[] =>
  entries.flatMap((entry) =>
    entry.type !== "model"
      ? []
      : entry.parts.flatMap((part) =>
          "seal" in part ? [part.seal?.signature, part.seal?.encrypted].filter((seal) => seal !== undefined) : [],
        ),
  );

const resultsIn = (heard: SimModelRequest | undefined): readonly string[] =>
  (heard?.turns ?? []).flatMap((turn) => (turn.by === "tools" ? turn.results.map(({ text }) => text) : []));

const filesIn = (heard: SimModelRequest | undefined): readonly string[] =>
  (heard?.turns ?? []).flatMap((turn) => {
    if (turn.by === "user") return turn.files.map(({ mimeType }) => mimeType);
    return turn.by === "tools" ? turn.results.flatMap(({ files }) => files.map(({ mimeType }) => mimeType)) : [];
  });

const unknown = "Its outcome is unknown, and it may have had effects.";

describe.each(protocols)("a session begun on %s", (provider) => {
  it("is taken up on every protocol after text, an image and reasoning", async () => {
    const begun = await started(provider, "Begin.");
    expect([begun.ran.code, begun.ran.err.includes("bug")]).toEqual([0, false]);
    const seals = sealsOf(await entriesOf(begun));
    // Chat Completions has nothing that is sealed.
    expect(seals.length > 0).toBe(provider !== "openai-chat");
    for (const target of protocols) {
      const { ran, heard, body, refused } = await takenUp(begun, target);
      expect({ target, code: ran.code, refused }).toEqual({ target, code: 0, refused: [] });
      expect(ran.lines().at(-1)).toMatchObject({ type: "result", status: "success", response: "Taken up." });
      expect(resultsIn(heard)[0]).toContain("the-finished-result");
      expect(filesIn(heard)).toEqual(["image/png"]);
      if (target !== provider) expect(seals.filter((seal) => body.includes(seal))).toEqual([]);
    }
  });

  it.each(["SIGINT", "SIGKILL"] as const)(
    "is taken up on every protocol after %s with a call running",
    async (signal) => {
      const begun = await started(provider, "Begin slowly.", signal);
      expect([begun.ran.code, begun.ran.signal]).toEqual(signal === "SIGINT" ? [130, null] : [null, "SIGKILL"]);
      const seals = sealsOf(await entriesOf(begun));
      for (const target of protocols) {
        const { ran, heard, body, refused } = await takenUp(begun, target);
        expect({ target, code: ran.code, refused }).toEqual({ target, code: 0, refused: [] });
        const [first, second, third, ...rest] = resultsIn(heard);
        expect(first).toContain("the-finished-result");
        expect(second).not.toContain("unknown");
        expect(third).toContain(signal === "SIGINT" ? "The user cancelled this call while it ran." : unknown);
        expect(rest).toEqual([]);
        expect(filesIn(heard)).toEqual(["image/png"]);
        if (signal === "SIGKILL") expect(ran.err).toContain("run_shell_command was running when the session ended");
        if (target !== provider) expect(seals.filter((seal) => body.includes(seal))).toEqual([]);
      }
    },
  );
});
