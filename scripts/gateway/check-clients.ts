/*
 * Runs real command-line agents through the gateway against strict simulators of every API family, and writes the table of
 * docs/gateway.md from the run. The clients are installed beforehand; see --clients.
 *
 *     npx tsx scripts/gateway/check-clients.ts [--clients DIR] [--node DIR] [--only claude,codex] [--targets google,openai]
 *                                              [--results FILE] [--write] [--verbose]
 *
 * DIR holds NAME/node_modules/.bin/NAME for each client; without it they are found on the PATH. --node is the folder of a
 * newer Node for clients that need one. --results keeps the results in a
 * file, so that several runs make one table; --write puts the table into the document.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { checkRun, type RunChecks } from "./checks.ts";
import { findProgram, testClients, type GatewayTestClient } from "./clients.ts";
import { doneText, promptFor, receivedBy } from "./model.ts";
import { openClientStage, type ClientRunPlace } from "./stage.ts";
import { replaceTable, writeClientTable, type ClientRow } from "./table.ts";
import { allTargets, takesImages } from "./targets.ts";

const { values: options } = parseArgs({
  options: {
    clients: { type: "string" },
    node: { type: "string" },
    only: { type: "string" },
    targets: { type: "string" },
    results: { type: "string" },
    write: { type: "boolean", default: false },
    verbose: { type: "boolean", default: false },
  },
});

const targets = (options.targets?.split(",") ?? Object.keys(allTargets)).map((name) => allTargets[name] ?? name);
const clients = testClients.filter(({ bin }) => options.only?.split(",").includes(bin) ?? true);

const stage = await openClientStage(options.node);
const { root, project } = stage;

/** Runs one prompt of a client at a target, and checks what the target received. */
const runOnce = async (
  { program, name, files }: { program: string; name: string; files: readonly number[] },
  args: readonly string[],
  place: ClientRunPlace,
): Promise<RunChecks> => {
  const { code, output, log, received, exchanges } = await stage.run(program, args, place);
  const last = received.findLast(({ tools, turns }) => tools.length > 0 && turns.length > 1);
  const checks = checkRun({
    log,
    exchanges,
    isDone: output.includes(doneText),
    received: last && receivedBy(last),
    files,
    hasImage: takesImages(stage.target),
    takesImages: takesImages(stage.target),
  });
  if (options.verbose || checks.faults.length > 0)
    console.log(
      `  ${name} at ${stage.target}: exit ${code}, ${log.length} requests; ${checks.faults.join("; ") || "ok"}`,
    );
  if (options.verbose && checks.faults.length > 0) console.log(output.slice(-1500));
  return checks;
};

const checkClient = async (client: GatewayTestClient): Promise<void> => {
  const program = findProgram(client.bin, options.clients);
  if (program === undefined) {
    console.log(`${client.name} is not installed.`);
    return;
  }
  const cells = (results[client.name] ??= {});
  for (const [index, to] of targets.entries()) {
    const home = join(root, client.bin, String(index), "home");
    const folder = join(root, client.bin, String(index), "project");
    mkdirSync(home, { recursive: true });
    cpSync(project, folder, { recursive: true });
    const command = client.prepare({ home, url: stage.url, token: stage.token, model: client.model });
    const place = { env: command.env, cwd: folder, home };
    const named = { program, name: client.name };
    stage.folder = folder;
    stage.target = to;
    const first = await runOnce({ ...named, files: [1, 2] }, command.start(promptFor("mixed")), place);
    // The same conversation continues at another target.
    stage.target = targets[(index + 1) % targets.length] ?? to;
    const second = await runOnce({ ...named, files: [1, 2, 3, 4] }, command.resume(promptFor("more")), place);
    cells[to] = { ...first, switched: second.faults.length === 0, faults: [...first.faults, ...second.faults] };
    console.log(`${client.name} at ${to}: ${summaryOf(cells[to])}`);
    if (options.results !== undefined) writeFileSync(options.results, JSON.stringify(results));
  }
};

const summaryOf = (checks: RunChecks | undefined): string =>
  checks === undefined || checks.faults.length > 0 ? `FAULTS ${checks?.faults.join("; ")}` : "ok";

const results: Record<string, Record<string, RunChecks>> = options.results !== undefined && existsSync(options.results)
  ? (JSON.parse(readFileSync(options.results, "utf8")) as Record<string, Record<string, RunChecks>>)
  : {};
for (const client of clients) await checkClient(client);
await stage.close();
const rows: readonly ClientRow[] = testClients.map(({ name }) => ({ client: name, cells: results[name] ?? {} }));
const table = writeClientTable(rows, Object.values(allTargets));
console.log(table);
if (options.write) {
  const file = new URL("../../docs/gateway.md", import.meta.url);
  writeFileSync(file, replaceTable(readFileSync(file, "utf8"), "clients", table));
}
process.exitCode = rows.some(({ cells }) => Object.values(cells).some(({ faults }) => faults.length > 0)) ? 1 : 0;
