/*
 * Runs real command-line agents through the gateway for scenes beyond the tool loop of check-clients.ts: many steps, a cancel in the
 * middle of a stream, the client's own compaction, and its own recovery from refusals. Writes a table for docs/gateway.md.
 *
 *     npx tsx scripts/gateway/check-scenes.ts [--clients DIR] [--node DIR] [--only claude,codex] [--targets google,openai]
 *                                             [--scenes steps,cancel] [--steps N] [--minutes N] [--results FILE] [--write] [--verbose]
 *
 * The other options are those of check-clients.ts. --minutes is the longest run of a client.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { parseTarget } from "../../src/gateway/exchange.ts";
import type { SimModelRequest } from "../../src/sim/model/types.ts";
import { checkRun, isTokenCount } from "./checks.ts";
import { findProgram, testClients, type ClientCommand, type GatewayTestClient } from "./clients.ts";
import { doneText, isGatewaySummary, isSummaryRequest, promptFor, receivedBy } from "./model.ts";
import { fileCount, openClientStage, type ClientRun } from "./stage.ts";
import { replaceTable, writeSceneTable, type SceneResult, type SceneResults } from "./table.ts";
import { allTargets, takesImages } from "./targets.ts";

const { values: options } = parseArgs({
  options: {
    clients: { type: "string" },
    node: { type: "string" },
    only: { type: "string" },
    targets: { type: "string", default: "anthropic,google,openai" },
    scenes: { type: "string" },
    steps: { type: "string", default: "200" },
    minutes: { type: "string", default: "15" },
    results: { type: "string" },
    write: { type: "boolean", default: false },
    verbose: { type: "boolean", default: false },
  },
});

const stage = await openClientStage(options.node, Number(options.minutes));
const steps = Math.min(Number(options.steps), fileCount);

/** A client that is set up in a home and a project of its own. */
type SceneClient = {
  readonly command: ClientCommand;
  readonly run: (args: readonly string[], interrupt?: () => Promise<unknown>) => Promise<ClientRun>;
};

type Scene = (client: SceneClient) => Promise<SceneResult>;

const scenes: Readonly<Record<string, Scene>> = {
  steps: async ({ command, run }) => {
    const { output, log, received, exchanges } = await run(command.start(promptFor(`steps${steps}`)));
    const last = received.findLast(({ tools, turns }) => tools.length > 0 && turns.length > 1);
    const { faults, requests } = checkRun({
      log,
      exchanges,
      isDone: output.includes(doneText),
      received: last && receivedBy(last),
      files: Array.from({ length: steps }, (_, index) => index + 1),
      hasImage: false,
      takesImages: takesImages(stage.target),
    });
    return { faults: [...faults, ...(requests > steps ? [] : [`only ${requests} requests`])] };
  },
  cancel: async ({ command, run }) => {
    stage.fail({ type: "drip", ms: 600_000 }, Infinity);
    const { log } = await run(command.start(promptFor("mixed")), stage.untilPause);
    await new Promise((resolve) => setTimeout(resolve, 500));
    stage.fail({ type: "drip", ms: 0 }, 0);
    return {
      faults: [
        ...(log.length === 0 ? ["no request was sent"] : []),
        ...(stage.cancelled() > 0 ? [] : ["the request to the target was not cancelled"]),
      ],
    };
  },
  compaction: (client) => compactOnce(client, isSummaryRequest),
  "remote compaction": async (client) =>
    client.command.hasRemoteCompaction === true
      ? compactOnce(client, isGatewaySummary)
      : { faults: [], detail: "does not ask", isUnused: true },
  "count tokens": async ({ command, run }) => {
    const runs = [await run(command.start(promptFor("more")))];
    if (command.countPrompt !== undefined) runs.push(await run(command.resume(command.countPrompt)));
    const counted = runs.flatMap(({ paths }) => paths).filter((path) => isTokenCount(path));
    return counted.length === 0 ? { faults: [], detail: "does not ask", isUnused: true } : { faults: [] };
  },
  "rate limit": async ({ command, run }) => {
    stage.fail({ type: "status", status: 429, headers: { "retry-after": "3" } }, 1);
    return finished(await run(command.start(promptFor("more"))));
  },
  // The gateway tries three times itself, so the client gets the refusal of the third.
  overloaded: async ({ command, run }) => {
    stage.fail({ type: "status", status: 503, kind: "overloaded" }, 4);
    return finished(await run(command.start(promptFor("more"))));
  },
  "too long": async ({ command, run }) => {
    const first = await run(command.start(promptFor("mixed")));
    stage.fail({ type: "status", status: 400, kind: "context", ...contextMessage(stage.target) }, 1);
    const { output, received } = await run(command.resume(promptFor("more")));
    const isRecovered = output.includes(doneText);
    return {
      faults: first.output.includes(doneText) ? [] : ["the client did not finish"],
      detail: isRecovered ? (received.some(isSummaryRequest) ? "compacts" : "tries again") : "reports it",
    };
  },
};

/** The words of APIs that tell this failure by its message alone. */
const contextMessage = (to: string): { readonly message?: string } => {
  const { wire } = parseTarget(to).provider;
  if (wire === "gemini")
    return { message: "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576)." };
  return wire === "anthropic" || wire === "bedrock"
    ? { message: "prompt is too long: 200001 tokens > 200000 maximum" }
    : {};
};

/** Compacts a conversation in the middle and continues from the summary. */
const compactOnce = async (
  { command, run }: SceneClient,
  isExpected: (request: SimModelRequest) => boolean,
): Promise<SceneResult> => {
  const filler = "Some words to read. ".repeat((command.compactFiller ?? 0) / 20);
  const runs = [await run(command.start(filler + promptFor("mixed")))];
  if (command.compactPrompt !== undefined) runs.push(await run(command.resume(command.compactPrompt)));
  runs.push(await run(command.resume("Go on.")));
  const log = runs.flatMap((each) => each.log);
  const received = runs.flatMap((each) => each.received);
  const summary = received.findIndex(isExpected);
  const refused = log.flatMap((entry) => (entry.verdict === "refused" ? [`refused: ${entry.message}`] : []));
  const isUsed = received
    .slice(summary + 1)
    .some(({ turns }) => turns.some((turn) => turn.by !== "tools" && turn.text.includes("[[last]]")));
  return {
    faults: [
      ...refused,
      ...(summary === -1 ? ["it did not compact"] : isUsed ? [] : ["the summary did not reach the model"]),
      ...(runs.at(-1)?.output.includes(doneText) === true ? [] : ["the client did not finish"]),
    ],
    detail: runs.some(({ paths }) => paths.some((path) => path.endsWith("/compact"))) ? "by /responses/compact" : "",
  };
};

const finished = ({ output, log }: ClientRun): SceneResult => ({
  faults: [
    ...(log.some(({ verdict }) => verdict === "refused") ? [] : ["nothing was refused"]),
    ...(output.includes(doneText) ? [] : ["the client did not finish"]),
  ],
});

const results: SceneResults =
  options.results !== undefined && existsSync(options.results)
    ? (JSON.parse(readFileSync(options.results, "utf8")) as SceneResults)
    : {};

const runScene = async (client: GatewayTestClient, name: string, to: string): Promise<void> => {
  const program = findProgram(client.bin, options.clients);
  const scene = scenes[name];
  if (program === undefined || scene === undefined) return;
  const place = join(stage.root, client.bin, name.replace(" ", "-"), to.replaceAll("/", "-"));
  const home = join(place, "home");
  stage.folder = join(place, "project");
  mkdirSync(home, { recursive: true });
  cpSync(stage.project, stage.folder, { recursive: true });
  const { url, token } = stage;
  const compacts = name === "compaction" ? "by itself" : name === "remote compaction" ? "remotely" : undefined;
  const command = client.prepare({ home, url, token, model: client.model, compacts });
  stage.target = to;
  let output = "";
  const result = await scene({
    command,
    run: async (args, interrupt) => {
      const run = await stage.run(program, args, { env: command.env, cwd: stage.folder, home }, interrupt);
      output += `$ ${args.join(" ")}\n${run.paths.join(" ")}\n${run.output}\n${run.received.map(describeRequest).join("\n")}\ntokens: ${run.log.map((entry) => ("usage" in entry ? entry.usage?.input : "")).join(" ")}\n`;
      return run;
    },
  });
  ((results[client.name] ??= {})[name] ??= {})[to] = result;
  console.log(`${client.name}: ${name} at ${to}: ${result.faults.join("; ") || `ok ${result.detail ?? ""}`}`);
  if (options.verbose) console.log(output.slice(-6000));
  if (options.results !== undefined) writeFileSync(options.results, JSON.stringify(results));
};

/** A request in one line: how many tools, and the turns with the ends of their texts. */
const describeRequest = ({ tools, turns }: SimModelRequest): string =>
  `${tools.length} tools; ${turns.map((turn) => `${turn.by}: ${turn.by === "tools" ? "" : turn.text.slice(-200)}`).join(" | ")}`;

for (const name of options.scenes?.split(",") ?? Object.keys(scenes))
  for (const to of options.targets.split(",").map((short) => allTargets[short] ?? short))
    for (const client of testClients)
      if (options.only?.split(",").includes(client.bin) ?? true) await runScene(client, name, to);
await stage.close();
const table = writeSceneTable(
  testClients.map(({ name }) => name),
  Object.keys(scenes),
  results,
);
console.log(table);
if (options.write) {
  const file = new URL("../../docs/gateway.md", import.meta.url);
  writeFileSync(file, replaceTable(readFileSync(file, "utf8"), "scenes", table));
}
const faults = Object.values(results).flatMap((byScene) =>
  Object.values(byScene).flatMap((byTarget) => Object.values(byTarget).flatMap((result) => result.faults)),
);
process.exitCode = faults.length > 0 ? 1 : 0;
