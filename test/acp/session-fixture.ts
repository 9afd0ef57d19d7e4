import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import type { CommandLineFlags } from "../../src/settings/load/flags-and-environment.ts";
import type { ModelFunction } from "../../src/sim/family.ts";
import type { AcpTestClient, Json } from "../support/acp-client.ts";
import { openAcpStage, type AcpStage } from "../support/acp-stage.ts";
import { openProgramStage, type ProgramStage } from "../support/agent-program.ts";

/** Sessions of an editor in this process: real tools and files, simulated providers, a new project for every test. */
export type AcpFixture = {
  readonly stage: ProgramStage;
  readonly client: AcpTestClient;
  readonly project: string;
  /** Connects a client with these capabilities. */
  readonly connect: (capabilities?: Json, flags?: CommandLineFlags) => Promise<Json>;
  /** Opens a session in the project. */
  readonly open: (more?: Json) => Promise<string>;
  /** Answers every permission request with an option. */
  readonly allow: (optionId?: string) => void;
  /** Resolves at the next message of the agent that matches. */
  readonly until: (matches: (message: Json) => boolean) => Promise<Json>;
};

/** Registers the hooks of a fixture. Every line of every test is validated against the protocol's JSON Schema. */
export const useAcpSessions = (providers: readonly string[], script: ModelFunction = obey): AcpFixture => {
  let stage: ProgramStage;
  let acp: AcpStage | undefined;
  let project: string;
  const client = (): AcpTestClient => {
    if (acp === undefined) throw new Error("Connect first.");
    return acp.client;
  };
  beforeAll(async () => {
    stage = await openProgramStage(providers, { script });
  });
  afterAll(() => stage.close());
  beforeEach(() => {
    project = realpathSync(mkdtempSync(join(tmpdir(), "parley-acp-")));
    stage.modelRequests.splice(0);
  });
  afterEach(async () => {
    await acp?.server.close();
    rmSync(project, { recursive: true, force: true });
    expect(acp?.client.problems).toEqual([]);
  });
  return {
    get stage() {
      return stage;
    },
    get client() {
      return client();
    },
    get project() {
      return project;
    },
    connect: async (capabilities = {}, flags = {}) => {
      await acp?.server.close();
      acp = openAcpStage(stage, flags);
      return acp.client.initialize(capabilities);
    },
    open: async (more = {}) =>
      (await client().request("session/new", { cwd: project, mcpServers: [], ...more }))["sessionId"] as string,
    allow: (optionId = "once") => {
      client().handlers["session/request_permission"] = () => ({ outcome: { outcome: "selected", optionId } });
    },
    until: (matches) =>
      new Promise((resolve) => {
        const at = client();
        const before = at.onMessage;
        at.onMessage = (message) => {
          before(message);
          if (matches(message)) resolve(message);
        };
      }),
  };
};

/** Whether a message is an update of this kind. */
export const isUpdate =
  (kind: string) =>
  (message: Json): boolean =>
    message["params"]?.update?.sessionUpdate === kind;

/** A model that does what the last prompt says: `call TOOL JSON`, else repeats it. */
const obey: ModelFunction = ({ turns }) => {
  const at = turns.findLastIndex((turn) => turn.by === "user" && turn.text !== "");
  const turn = turns[at];
  const said = turn?.by === "user" ? turn.text : "";
  const answered = turns.slice(at).filter((each) => each.by === "model").length;
  const calls = [...said.matchAll(/^call ([\w-]+) (\{.*\})$/gm)];
  const next = calls[answered];
  if (next !== undefined)
    return { parts: [{ type: "call", tool: next[1] ?? "", input: JSON.parse(next[2] ?? "{}") as object }] };
  return { parts: [{ type: "say", text: `You said: ${said.slice(-200)}` }] };
};
