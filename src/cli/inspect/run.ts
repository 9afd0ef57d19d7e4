import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { loadAgentEnvironment } from "../../agent/environment.ts";
import { isObject } from "../../conversation/json.ts";
import { inferWire } from "../../providers/request.ts";
import { wireIds } from "../../providers/find.ts";
import { inspectBody, inspectConversation, type Inspected } from "../../inspect/data/inspected.ts";
import { isExchangeLog, openExchangeLog } from "../../inspect/server/exchange-log.ts";
import type { InspectionSource } from "../../inspect/server/inspection.ts";
import { openSessionSource } from "../../inspect/server/session-source.ts";
import { serveInspector } from "../../inspect/server/serve.ts";
import { openInBrowser } from "../chat/browser.ts";
import type { CommandHandler } from "../command.ts";
import { readJson } from "../json/read.ts";
import { parseConversationFile } from "../requests/conversation-file.ts";
import { parsePort, waitForSignal } from "../requests/simulate.ts";
import { openSessionsContext, readSession, withUserErrors, type SessionsContext } from "../sessions/context.ts";
import { UserError } from "../user-error.ts";

/** `parley inspect`: serves the inspector page until interrupted. */
export const inspect: CommandHandler = (args) =>
  withUserErrors(async () => {
    const port = parsePort(args.value("port"));
    const { world, loaded } = await loadAgentEnvironment({ folder: "." });
    const context = await openSessionsContext(world);
    const source = await openSource(context, args.positionals[0]);
    const { models } = loaded.settings;
    const server = await serveInspector(source, { world, models, port }).catch((error: unknown) => {
      throw new UserError(`Cannot listen: ${error instanceof Error ? error.message : String(error)}.`, { code: 1 });
    });
    process.stdout.write(`${server.url}\n`);
    process.stderr.write("Listening on this machine only. Press Ctrl-C to stop.\n");
    const stopped = waitForSignal();
    if (!args.has("no-open") && process.stdout.isTTY === true && !(await openInBrowser(world, server.url)))
      process.stderr.write("No browser could be started. Open the address above.\n");
    await stopped;
    await server.close();
    return 0;
  });

/** Opens the named session or file. A file takes precedence; errors are reported before anything is served. */
const openSource = async (context: SessionsContext, word: string | undefined): Promise<InspectionSource> => {
  if (word !== undefined && (await isRegularFile(word)) && (await isExchangeLog(word)))
    return openExchangeLog(word, basename(word));
  if (word === "-" || (word !== undefined && (await isFile(word)))) return fixedSource(await readFileSource(word));
  const { id } = await readSession(context, word).catch(withFileHint(word));
  return openSessionSource({ ...context, home: context.home.data }, id);
};

const withFileHint =
  (word: string | undefined) =>
  (error: unknown): never => {
    if (word !== undefined && !/^[0-9a-z]{1,10}$/.test(word)) throw new UserError(`No such file or session: ${word}.`);
    throw error;
  };

const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Pipes and devices cannot be read again from the start. */
const isRegularFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile(),
    () => false,
  );

/** A file is read once. */
const fixedSource = (inspected: Inspected): InspectionSource => ({
  load: async () => inspected,
  revision: async () => undefined,
});

const readFileSource = async (path: string): Promise<Inspected> => {
  const value = await readJson(path);
  const name = path === "-" ? "stdin" : basename(path);
  if (isObject(value) && "entries" in value) return inspectConversation(parseConversationFile(value), name);
  const wire = inferWire(value);
  if (wire === undefined)
    throw new UserError(
      `${name} is neither a saved conversation, nor a request body of ${wireIds.join(", ")}, nor an exchange log. See parley render and parley convert.`,
    );
  return inspectBody(value, wire, name);
};
