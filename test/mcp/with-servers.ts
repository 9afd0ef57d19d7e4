import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readServerConfigs } from "../../src/mcp/config/read-servers.ts";
import { openMcpServers, type McpServers, type McpServersOptions } from "../../src/mcp/servers.ts";
import { normalizeResult } from "../../src/tools/result/normalize.ts";
import { ToolFailure, type ToolResult } from "../../src/tools/tool.ts";
import { realWorld } from "../../src/world/real/world.ts";

/** The path of the server whose behaviour is given by its arguments. */
export const scriptedServer: string = fileURLToPath(new URL("./scripted-server.mjs", import.meta.url));

/** Servers in the real world, in a folder of their own. */
export type McpTestSession = {
  readonly servers: McpServers;
  readonly folder: string;
  readonly storedTexts: readonly string[];
  readonly progressTexts: readonly string[];
  /** Calls a tool as the scheduler does. Returns the error it throws. */
  readonly call: (tool: string, input?: object, signal?: AbortSignal) => Promise<ToolResult | Error>;
  /** Resolves as soon as a condition holds, checked after every event. */
  readonly until: (holds: () => boolean) => Promise<void>;
};

export type McpTestOptions = Partial<McpServersOptions> & {
  /** Behaviours by server name; a list is a behaviour with its arguments. */
  readonly scripted?: Readonly<Record<string, string | readonly string[]>>;
  readonly configured?: Readonly<Record<string, object>>;
};

/** The command for one behaviour. */
export const scriptedCommand = (behaviour: string | readonly string[], more: object = {}): object => ({
  command: process.execPath,
  args: [scriptedServer, ...[behaviour].flat()],
  ...more,
});

/** Runs work with servers that are all ready or failed, and whose tools are applied; then stops them. */
export const withServers = async (
  { scripted: behaviours = {}, configured = {}, ...options }: McpTestOptions,
  work: (setting: McpTestSession) => Promise<void>,
): Promise<void> => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "parley-mcp-")));
  const world = options.world ?? realWorld();
  const entries = Object.entries(behaviours).map(([name, behaviour]) => [name, scriptedCommand(behaviour)]);
  const { servers: configs } = readServerConfigs(
    { ...Object.fromEntries(entries), ...configured },
    { from: "person", env: world.env },
  );
  const servers = openMcpServers({ world, configs, root: folder, startTimeout: 60_000, ...options });
  const storedTexts: string[] = [];
  const progressTexts: string[] = [];
  try {
    await servers.settled(AbortSignal.timeout(60_000));
    servers.applyChanges();
    await work({
      servers,
      folder,
      storedTexts,
      progressTexts,
      call: (tool, input = {}, signal = new AbortController().signal) =>
        callTool(servers, tool, input, { signal, kept: storedTexts, reported: progressTexts }),
      until: (holds) => untilHolds(servers, holds),
    });
  } finally {
    await servers.close();
    await rm(folder, { recursive: true, force: true });
  }
};

type TestCallContext = { readonly signal: AbortSignal; readonly kept: string[]; readonly reported: string[] };

const callTool = async (
  servers: McpServers,
  name: string,
  input: object,
  { signal, kept, reported }: TestCallContext,
): Promise<ToolResult | Error> => {
  const found = servers.find(name);
  if (found === undefined) throw new Error(`There is no tool ${name}, but ${servers.names().join(", ")}.`);
  const can = {
    signal,
    report: (text: string) => void reported.push(text),
    files: { keep: async (text: string) => `kept-${kept.push(text)}` },
  };
  try {
    return await normalizeResult(await found.tool.run(input as never, can as never));
  } catch (error) {
    return error instanceof ToolFailure ? new Error(`${error.type}: ${error.message}`) : (error as Error);
  }
};

/** Resolves as soon as a condition holds, checked after every event. */
export const untilHolds = (servers: McpServers, holds: () => boolean): Promise<void> =>
  new Promise((resolve, reject) => {
    const late = setTimeout(() => done(reject), 30_000);
    const done = (settle: (reason?: unknown) => void): void => {
      clearTimeout(late);
      stop();
      settle(new Error("It never came to that."));
    };
    const look = (): void => void (holds() && done(() => resolve()));
    const stop = servers.listen(look);
    look();
  });

/** The text of a result. */
export const textOf = (result: ToolResult | Error): string =>
  result instanceof Error ? `${result}` : result.display.type === "text" ? result.display.text : result.display.type;
