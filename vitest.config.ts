import { availableParallelism } from "node:os";
import { defineConfig, type ViteUserConfigFnObject } from "vitest/config";
import { BaseSequencer, type Reporter, type TestSpecification } from "vitest/node";
import type { Tier } from "./test/support/tier.ts";

/*
 * Three tiers, by vitest's mode. test/support/tier.ts says how much a test does in each.
 *
 *   npm test                 quick: all but the oracles and the long tests below
 *   npm run test:all         all (--mode all)
 *   npm run test:nightly     all, with fresh seeds (--mode nightly); --mode nightly=SEED repeats a run
 */

/** Not in the quick tier, unless files or folders are named on the command line. A quick test covers the same kind of fault. */
const longTests = [
  // Workers and databases killed: postgres/ownership.test.ts is quick.
  "test/fleet/kill.test.ts",
  // Worker programs, and a server on a database: fleet/worker.test.ts is quick.
  "test/fleet/worker-programs.test.ts",
  // Text from worker programs through a front door: fleet/worker.test.ts and live-buffer.test.ts are quick.
  "test/fleet/live-programs.test.ts",
  // A standby takes over: postgres/ownership.test.ts is quick.
  "test/fleet/standby.test.ts",
  "test/fleet/serve.test.ts",
  // The server as a program: server/front-door.test.ts, server/serve.test.ts and src/telemetry are quick.
  "test/server/packaged.test.ts",
  // Tokens signed by an identity provider: server/front-door.test.ts is quick.
  "test/server/oidc.test.ts",
  // The terminal UI in a pseudo-terminal: app.test.ts and golden screens are quick.
  "test/tui/app-!(screens).test.ts",
  // The package as strangers install it: the built program is run by many quick tests.
  "test/package.test.ts",
  // MCP servers over HTTP, in projects, hostile ones, and their processes: mcp/servers.test.ts, cli.test.ts and src/mcp are quick.
  "test/mcp/hostile.test.ts",
  "test/mcp/oauth-config.test.ts",
  "test/mcp/server-requests.test.ts",
  "test/mcp/http.test.ts",
  "test/mcp/cli-project.test.ts",
  "test/mcp/processes.test.ts",
  "test/mcp/versions.test.ts",
  // Planted repositories and folders of sessions on real git: safe-git.test.ts and attacks/commands.test.ts are quick.
  "test/attacks/repositories.test.ts",
  "test/attacks/commit-keys.test.ts",
  "test/fleet/workplaces.test.ts",
  "src/policy/command/repository/git-index.test.ts",
  // Rules and the screen under attack, end to end: the tests of src/policy/gate and src/policy/terminal are quick.
  "test/attacks/always-allow.test.ts",
  "test/attacks/changed-files.test.ts",
  "test/attacks/search-path.test.ts",
  "test/attacks/terminal.test.ts",
  // URLs under attack, end to end: judge-url.test.ts and guarded-fetch.test.ts in src/policy/network are quick.
  "test/attacks/urls.test.ts",
  // Planted project files, end to end: src/policy/trust, attacks/commands.test.ts and attacks/paths.test.ts are quick.
  "test/attacks/projects.test.ts",
  // Plugins in the sandbox: sandbox.test.ts and extensions/plugins are quick.
  "test/sandbox-plugins.test.ts",
  // The gateway as a program: gateway/door.test.ts is quick.
  "test/gateway/program.test.ts",
  // More of ACP: acp/session.test.ts, permissions.test.ts and program.test.ts are quick.
  "test/acp/client-servers.test.ts",
  "test/acp/reported-bugs.test.ts",
  "test/acp/server-questions.test.ts",
  // Agents on other servers as subagents: a2a/a2a.test.ts is quick.
  "test/a2a/remote-agent.test.ts",
  // The example programs: docs-programs.test.ts and agent/open-agent.test.ts are quick.
  "test/examples.test.ts",
  // The picture of the front page: tui/app-screens.test.ts is quick.
  "test/tui/picture.test.ts",
  // Sessions by command, and states after a crash: session/store and agent/kill.test.ts are quick.
  "test/cli/sessions.test.ts",
  "test/session/crash-states.test.ts",
  "test/agent/same-session-log.test.ts",
  // Sessions longer than the context window: agent/simulation.test.ts is quick.
  "test/agent/long-session.test.ts",
  // Work after a turn, searches with ripgrep, two agents at one file: agent/turns.test.ts and tools/glob.test.ts are quick.
  "test/agent/session-work.test.ts",
  "test/tools/search-file-content.test.ts",
  "test/tools/killed-write.test.ts",
  "test/tools/two-agents.test.ts",
  // More of broken connections: transport/faults.test.ts is quick.
  "test/transport/delivery.test.ts",
  "test/transport/retry-storm.test.ts",
  // Commands with simulators as programs: cli/requests.test.ts is quick.
  "test/cli/providers.test.ts",
  "test/cli/simulate.test.ts",
  // Spans and metrics of the packaged program: the tests in src/telemetry are quick.
  "test/telemetry.test.ts",
  // Every event of hooks through the packaged program, and inputs by Codex's schemas: hooks/events.test.ts is quick.
  "test/hooks/packaged.test.ts",
  "test/hooks/codex-inputs.test.ts",
  // The inspector in a browser: inspector/server.test.ts and inspector/data.test.ts are quick.
  "test/inspector/page.test.ts",
  "test/inspector/accessibility.test.ts",
  // The program killed, and resumed on another provider: agent/kill.test.ts is quick.
  "test/agent/abrupt-end.test.ts",
  "test/session/kill.test.ts",
  "test/agent/cross-resume.test.ts",
  // The vendors' types of responses and tool schemas: oracles.bodies is quick.
  "test/oracles.responses.test.ts",
  "test/oracles.schemas.test.ts",
];
/** How the paths of the files begin that take longest. They start first, so that no worker waits for them at the end. */
const longestTests = [
  "test/properties/",
  "test/agent/simulation.test.ts",
  "test/package.test.ts",
  "test/requests/convert.test.ts",
  "test/transport/faults.test.ts",
  "test/fleet/",
  "oracles/",
  "test/tui/app",
  "test/mcp/",
];

/** Orders files by their last duration; in a fresh clone, where there is none, the longest still start first. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}

const rankOf = ({ moduleId }: TestSpecification): number => {
  const at = longestTests.findIndex((begin) => moduleId.includes(`/${begin}`));
  return at === -1 ? longestTests.length : at;
};

const config: ViteUserConfigFnObject = defineConfig(({ mode }) => {
  const [tier, seed] = parseMode(mode);
  const shared = {
    // A thousand simulated lives are one test, and machines differ.
    testTimeout: tier === "quick" ? 240_000 : 900_000,
    hookTimeout: 240_000,
    provide: { tier, seedOffset: seed },
    setupFiles: "test/support/fail-on-output.ts",
    exclude: tier === "quick" && !isSelection() ? longTests : [],
  };
  const oracles = {
    test: {
      ...shared,
      name: "oracles",
      include: ["oracles/*.test.ts", "oracles/clients/*.test.ts", "oracles/mcp/*.test.ts"],
      globalSetup: "test/support/oracles-setup.ts",
    },
  };
  return {
    test: {
      // Many tests wait for processes and terminals, the longest most of all, so more run at once than there are cores. Each
      // worker loads all modules.
      maxWorkers: Math.max(tier === "quick" ? 3 : 4, availableParallelism()),
      sequence: { sequencer: LongestFirst },
      reporters: tier === "nightly" ? ["default", seedReporter(seed)] : ["default"],
      projects: [
        // Modules are loaded once per worker, not per file: they have no state. In two projects each worker would start twice.
        { test: { ...shared, name: "parley", include: ["{src,test}/**/*.test.ts"], isolate: false } },
        ...(tier === "quick" ? [] : [oracles]),
      ],
    },
  };
});

const parseMode = (mode: string): [tier: Tier, seed: number] => {
  const [name = "", seed = `${Math.floor(Math.random() * 2 ** 31)}`] = mode.split("=");
  if (name === "test") return ["quick", 0];
  // knip loads this file with the modes of Vite itself, to see all tests.
  if (["all", "development", "production"].includes(name)) return ["all", 0];
  if (name === "nightly" && /^\d{1,10}$/.test(seed)) return ["nightly", Number(seed)];
  throw new Error(`Unknown mode "${mode}". Available: all, nightly, nightly=SEED; quick without a mode.`);
};

/** Whether files or folders are named: `vitest run FILE`. */
const isSelection = (): boolean => process.argv.slice(2).some((word) => !/^(-.*|run|list|watch)$/.test(word));

/** Prints the seed of the run, and how to repeat what failed. */
const seedReporter = (seed: number): Reporter => ({
  onInit: () => process.stdout.write(`\n Seed ${seed}\n`),
  onTestRunEnd(modules, _errors, reason) {
    if (reason !== "failed") return;
    const failed = modules.filter((module) => !module.ok()).map(({ relativeModuleId }) => relativeModuleId);
    process.stdout.write(`\n Repeat: npx vitest run --mode nightly=${seed} ${failed.join(" ")}\n\n`);
  },
});

export default config;
