import { appendFileSync, closeSync, openSync } from "node:fs";
import type { LogEntry } from "../../sim/request-log.ts";
import { parseScript, ScriptFormatError } from "../../sim/model/parse-script.ts";
import type { Script } from "../../sim/model/script.ts";
import { serve } from "../../sim/serve.ts";
import { createSimulator, type Simulator } from "../../sim/simulator.ts";
import { nearestNames } from "../../conversation/nearest-names.ts";
import { findProvider } from "../../providers/find.ts";
import type { CommandHandler } from "../command.ts";
import { UserError, usageError } from "../user-error.ts";
import { readJson } from "../json/read.ts";
import { basePath, describeSimulated, listSimulatable } from "./simulated-providers.ts";

/** `parley simulate`: serves a strict local API until interrupted. */
export const simulate: CommandHandler = async (args) => {
  const [name = ""] = args.positionals;
  const script = await readScript(args.value("script"));
  const log = openLog(args.value("log"));
  const simulators = createSimulators(name, script, log.write);
  const server = await serve(simulators, { port: parsePort(args.value("port")) }).catch((error: unknown) => {
    throw new UserError(`Cannot listen: ${error instanceof Error ? error.message : String(error)}.`, { code: 1 });
  });
  process.stdout.write(`${server.url}\n`);
  process.stderr.write(describeSetup(server.url, simulators));
  await waitForSignal();
  await server.close();
  log.close();
  return 0;
};

type Simulators = Simulator | { readonly [prefix: string]: Simulator };

const createSimulators = (name: string, script: Script | undefined, write: (entry: LogEntry) => void): Simulators => {
  const create = (provider: string): Simulator =>
    createSimulator({
      provider: describeSimulated(provider),
      onRequest: write,
      logLimit: 0,
      ...(script === undefined ? {} : { script }),
    });
  if (name === "all") return Object.fromEntries(listSimulatable().map((id) => [`/${id}`, create(id)]));
  if (!listSimulatable().includes(name) && !families.includes(name)) throw unknownApi(name);
  return create(name);
};

const unknownApi = (name: string): UserError => {
  const available = [...new Set([...families, ...listSimulatable(), "all"])];
  const close = nearestNames(name, available);
  return usageError(
    close.length > 0
      ? `Unknown API "${name}". Did you mean ${close.join(" or ")}?`
      : `Unknown API "${name}". Available: ${available.join(", ")}.`,
  );
};

const families = ["gemini", "anthropic", "bedrock", "openai-chat", "openai-responses"];

const readScript = async (file: string | undefined): Promise<Script | undefined> => {
  if (file === undefined) return undefined;
  try {
    return parseScript(await readJson(file));
  } catch (error) {
    if (error instanceof ScriptFormatError) throw new UserError(`${file} is not a valid script. ${error.message}`);
    throw error;
  }
};

/** Parses the value of `--port`; without one, any free port. */
export const parsePort = (text: string | undefined): number => {
  const port = text === undefined ? 0 : Number(text);
  if (Number.isInteger(port) && port >= 0 && port < 65_536) return port;
  throw usageError(`--port must be a number from 0 to 65535, not "${text}".`);
};

/** Opens the log: full entries go to the file, one line each to stderr. */
const openLog = (file: string | undefined): { write: (entry: LogEntry) => void; close: () => void } => {
  const handle = file === undefined ? undefined : openFile(file);
  return {
    write: (entry) => {
      process.stderr.write(`${formatLogEntry(entry)}\n`);
      if (handle !== undefined) appendFileSync(handle, `${JSON.stringify(entry)}\n`);
    },
    close: () => {
      if (handle !== undefined) closeSync(handle);
    },
  };
};

const openFile = (file: string): number => {
  try {
    return openSync(file, "a");
  } catch (error) {
    throw new UserError(`Cannot write the log: ${error instanceof Error ? error.message : String(error)}.`);
  }
};

const formatLogEntry = (entry: LogEntry): string => {
  const said = `${entry.ordinal}  ${entry.method} ${entry.path}  ${entry.status}`;
  if (entry.verdict === "refused") return `${said}  ${entry.rule ?? ""}  ${entry.message}`;
  return entry.usage === undefined
    ? said
    : `${said}  in ${entry.usage.input} (cached ${entry.usage.cachedRead})  out ${entry.usage.output}`;
};

const describeSetup = (url: string, simulators: Simulators): string => {
  const all =
    "handle" in simulators && typeof simulators.handle === "function"
      ? { "": simulators as Simulator }
      : (simulators as Record<string, Simulator>);
  const lines = Object.entries(all).map(([prefix, { provider }]) => {
    const variable = `PARLEY_${provider.id.toUpperCase().replaceAll("-", "_")}_BASE_URL`;
    return `  ${variable}=${url}${prefix}${basePath(findProvider(provider.id).endpoint.url)}`;
  });
  return ["Listening. Press Ctrl-C to stop. Any API key is accepted. To point Parley here:", ...lines, ""].join("\n");
};

/** Resolves when the program is asked to stop. */
export const waitForSignal = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve());
  });
