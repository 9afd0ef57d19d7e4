import { appendFileSync, readFileSync, renameSync, statSync, unwatchFile, watchFile, writeFileSync } from "node:fs";
import { loadAgentEnvironment } from "../../agent/environment.ts";
import { createExchangeLog } from "../../gateway/exchange-log.ts";
import { openGateway } from "../../gateway/gateway.ts";
import type { GatewayConfig, RouteRule } from "../../gateway/routes/config.ts";
import type { SealFile } from "../../gateway/seal-store.ts";
import { serveGateway } from "../../gateway/serve.ts";
import { configFromSettings, defaultPort } from "../../gateway/settings.ts";
import { createToken, hashToken } from "../../http/request-guard.ts";
import { createRedactor } from "../../policy/secrets/redact.ts";
import { settingsFilePath } from "../../settings/load/load.ts";
import type { Arguments, CommandHandler } from "../command.ts";
import { parsePort, waitForSignal } from "../requests/simulate.ts";
import { UserError, usageError } from "../user-error.ts";

/** `parley gateway`: serves the gateway until interrupted, or sets up a client. */
export const runGateway: CommandHandler = async (args) => {
  const [action] = args.positionals;
  if (action === "setup") return (await import("./setup.ts")).setUpClient(args);
  if (action !== undefined)
    throw usageError(`Unknown action "${action}". Use: parley gateway, or parley gateway setup CLIENT.`);
  return serveUntilSignal(args);
};

const serveUntilSignal = async (args: Arguments): Promise<number> => {
  const { world, home, loaded } = await loadAgentEnvironment({ folder: "." });
  const routes = args.values("route").map(parseRoute);
  const given = args.value("token");
  const hasClients = Object.keys(loaded.settings["gateway.clients"] ?? {}).length > 0;
  const token = given ?? (hasClients ? undefined : createToken());
  const toConfig = (settings: typeof loaded.settings): GatewayConfig => {
    const config = configFromSettings(settings);
    return {
      ...config,
      routes: [...routes, ...(config.routes ?? [])],
      clients: { ...config.clients, ...(token === undefined ? {} : { cli: { tokenHash: hashToken(token) } }) },
    };
  };
  let config = toConfig(loaded.settings);
  const log = args.value("log");
  const seals = args.value("seals");
  const gateway = openGateway({
    world,
    config: () => config,
    lint: async (body, target) => (await import("../../rules/lint.ts")).lint(body, target),
    onUnpriced: async (model) => {
      const { describeUnpriced } = await import("../../providers/models.ts");
      process.stderr.write(`${describeUnpriced(model)}\n`);
    },
    ...(seals === undefined ? {} : { sealFile: openSealFile(seals) }),
    ...(log === undefined
      ? {}
      : {
          onExchange: createExchangeLog({
            file: openLogFile(log),
            redact: createRedactor({ env: world.env, secrets: token === undefined ? [] : [token] }).redact,
          }),
        }),
  });
  const port =
    args.value("port") === undefined ? (loaded.settings["gateway.port"] ?? defaultPort) : parsePort(args.value("port"));
  const server = await serveGateway(gateway, { port }).catch((error: unknown) => {
    throw new UserError(
      `Cannot listen: ${error instanceof Error ? error.message : String(error)}. Use another port with --port.`,
      { code: 1 },
    );
  });
  const file = settingsFilePath(home.config);
  watchFile(file, { interval: 500 }, () => {
    loadAgentEnvironment({ folder: ".", home }).then(
      (changed) => (config = toConfig(changed.loaded.settings)),
      (error: unknown) => process.stderr.write(`The settings are not used: ${String(error)}\n`),
    );
  });
  process.stdout.write(`${server.url}\n`);
  process.stderr.write(describe(server.url, token));
  await waitForSignal();
  unwatchFile(file);
  await server.close();
  return 0;
};

const describe = (url: string, token: string | undefined): string =>
  [
    ...(token === undefined ? [] : [`Token: ${token}`]),
    `Anthropic: ANTHROPIC_BASE_URL=${url} ANTHROPIC_AUTH_TOKEN=${token ?? "TOKEN"}`,
    `OpenAI: OPENAI_BASE_URL=${url}/v1 OPENAI_API_KEY=${token ?? "TOKEN"}`,
    `Gemini: GOOGLE_GEMINI_BASE_URL=${url} GEMINI_API_KEY=${token ?? "TOKEN"}`,
    "Name models as provider/model, or add routes (gateway.routes). Press Ctrl-C to stop.",
    "",
  ].join("\n");

const parseRoute = (text: string): RouteRule => {
  const at = text.lastIndexOf("=");
  if (at < 1 || at === text.length - 1)
    throw usageError(`--route must be PATTERN=TARGET, such as claude-*=openai/gpt-5.6, not "${text}".`);
  return { model: text.slice(0, at), to: text.slice(at + 1).split(",") };
};

const openLogFile = (path: string): Parameters<typeof createExchangeLog>[0]["file"] => {
  const append = openForAppend(path, "the log");
  return { append, size: statSync(path).size, rotate: () => renameSync(path, `${path}.1`) };
};

const openSealFile = (path: string): SealFile => ({
  append: openForAppend(path, "the seals"),
  read: () => readFileSync(path, "utf8"),
  replace: (text) => {
    writeFileSync(`${path}.new`, text, { mode: 0o600 });
    renameSync(`${path}.new`, path);
  },
});

/** Opens a file that its owner alone may read: it holds conversations. */
const openForAppend = (path: string, what: string): ((text: string) => void) => {
  const append = (text: string): void => appendFileSync(path, text, { mode: 0o600 });
  try {
    append("");
  } catch (error) {
    throw new UserError(`Cannot write ${what}: ${error instanceof Error ? error.message : String(error)}.`, {
      code: 1,
    });
  }
  return append;
};
