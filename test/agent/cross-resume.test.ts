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
 * Sessions started with the built program on one protocol, and resumed on every other: after a complete turn, after
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

type StartedRun = { readonly id: string; readonly home: string; readonly ran: ProgramResult };

/** Starts a session in its own home folder. A signal is sent once two calls have ended and one runs. */
const startRun = async (provider: string, words: string, signal?: "SIGINT" | "SIGKILL"): Promise<StartedRun> => {
  const home = join(stage.home, `${provider}-${signal ?? "whole"}`);
  mkdirSync(home);
  let results = 0;
  const ran = await stage.runBuilt(["-p", words, "-m", provider, ...yolo], {
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

type ResumedRun = {
  readonly ran: ProgramResult;
  readonly received: SimModelRequest | undefined;
  readonly body: string;
  readonly refused: readonly unknown[];
};

/** Resumes a copy of a session on a provider. */
const resumeRun = async ({ id, home }: StartedRun, provider: string): Promise<ResumedRun> => {
  const copy = `${home}-on-${provider}`;
  cpSync(home, copy, { recursive: true });
  const from = stage.log.length;
  const ran = await stage.runBuilt(["-p", "Take it up.", "-m", provider, "--resume", id, ...yolo], {
    env: { PARLEY_HOME: copy },
  });
  const requests = stage.log.slice(from);
  return {
    ran,
    received: stage.modelRequests.at(-1),
    body: JSON.stringify(requests.at(-1)?.entry.body),
    refused: requests.filter(({ entry }) => entry.verdict === "refused"),
  };
};

const entriesOf = async ({ id, home }: StartedRun): Promise<readonly Entry[]> =>
  (await openSessionStore(realWorld({}), { home }).read(id)).entries;

/** The seals only their provider can read. */
const sealsOf = (entries: readonly Entry[]): readonly string[] =>
  entries.flatMap((entry) =>
    entry.type !== "model"
      ? []
      : entry.parts.flatMap((part) =>
          "seal" in part ? [part.seal?.signature, part.seal?.encrypted].filter((seal) => seal !== undefined) : [],
        ),
  );

const resultsIn = (received: SimModelRequest | undefined): readonly string[] =>
  (received?.turns ?? []).flatMap((turn) => (turn.by === "tools" ? turn.results.map(({ text }) => text) : []));

const filesIn = (received: SimModelRequest | undefined): readonly string[] =>
  (received?.turns ?? []).flatMap((turn) => {
    if (turn.by === "user") return turn.files.map(({ mimeType }) => mimeType);
    return turn.by === "tools" ? turn.results.flatMap(({ files }) => files.map(({ mimeType }) => mimeType)) : [];
  });

const unknown = "Its outcome is unknown, and it may have had effects.";

describe.each(protocols)("a session started on %s", (provider) => {
  it("is resumed on every protocol after text, an image and reasoning", async () => {
    const run = await startRun(provider, "Begin.");
    expect([run.ran.code, run.ran.err.includes("bug")]).toEqual([0, false]);
    const seals = sealsOf(await entriesOf(run));
    // Chat Completions has no seals.
    expect(seals.length > 0).toBe(provider !== "openai-chat");
    for (const target of protocols) {
      const { ran, received, body, refused } = await resumeRun(run, target);
      expect({ target, code: ran.code, refused }).toEqual({ target, code: 0, refused: [] });
      expect(ran.lines().at(-1)).toMatchObject({ type: "result", status: "success", response: "Taken up." });
      expect(resultsIn(received)[0]).toContain("the-finished-result");
      expect(filesIn(received)).toEqual(["image/png"]);
      if (target !== provider) expect(seals.filter((seal) => body.includes(seal))).toEqual([]);
    }
  });

  it.each(["SIGINT", "SIGKILL"] as const)(
    "is resumed on every protocol after %s with a call running",
    async (signal) => {
      const run = await startRun(provider, "Begin slowly.", signal);
      expect([run.ran.code, run.ran.signal]).toEqual(signal === "SIGINT" ? [130, null] : [null, "SIGKILL"]);
      const seals = sealsOf(await entriesOf(run));
      for (const target of protocols) {
        const { ran, received, body, refused } = await resumeRun(run, target);
        expect({ target, code: ran.code, refused }).toEqual({ target, code: 0, refused: [] });
        const [first, second, third, ...rest] = resultsIn(received);
        expect(first).toContain("the-finished-result");
        expect(second).not.toContain("unknown");
        expect(third).toContain(signal === "SIGINT" ? "The user cancelled this call while it ran." : unknown);
        expect(rest).toEqual([]);
        expect(filesIn(received)).toEqual(["image/png"]);
        if (signal === "SIGKILL") expect(ran.err).toContain("run_shell_command was running when the session ended");
        if (target !== provider) expect(seals.filter((seal) => body.includes(seal))).toEqual([]);
      }
    },
  );
});
