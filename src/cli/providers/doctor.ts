import { providers } from "../../providers/all.ts";
import type { Provider } from "../../providers/define.ts";
import type { CredentialStatus } from "../../transport/credentials/api-key.ts";
import { resolveBaseUrl, resolveEndpoint, type ResolvedEndpoint } from "../../transport/endpoint.ts";
import { explainFailure, ProviderError } from "../../transport/failure.ts";
import { probeProvider } from "../../transport/queries/probe.ts";
import { findHomeFolders, type HomeFolders } from "../../world/home-folders.ts";
import { needsProxy } from "../../world/real/proxy.ts";
import { version } from "../../world/version.ts";
import type { Environment, World } from "../../world/world.ts";
import type { CommandHandler } from "../command.ts";
import { findProviderCredentials, findNamedProvider, loadProviderWorld } from "./credentials.ts";
import { withProgress } from "../progress.ts";
import { sanitizeLine, columnWidths, wrapText } from "../text-table.ts";

/** `parley doctor`: checks which providers can be used and what is missing. Never prints a key. */
export const doctor: CommandHandler = async (args) => {
  const world = await loadProviderWorld();
  const named = args.value("provider");
  const selected = named === undefined ? providers : [findNamedProvider(named)];
  const isOffline = args.has("offline");
  const checks = await withProgress("Checking providers", async (report) => {
    let done = 0;
    return Promise.all(
      selected.map(async (provider) => {
        const check = await checkProvider(provider, world, isOffline);
        report((done += 1), selected.length);
        return check;
      }),
    );
  });
  const plugins = await findPluginProblems(world);
  const report: DoctorReport = {
    ...describeMachine(world, await findHomeFolders(world)),
    providers: checks,
    ...(plugins.length === 0 ? {} : { plugins }),
  };
  process.stdout.write(args.has("json") ? `${JSON.stringify(report, null, 2)}\n` : formatReport(report, world));
  return checks.some((check) => isUsable(check) && (named !== undefined || check.id !== "offline")) ? 0 : 1;
};

/** The report, as `--json` prints it. */
type DoctorReport = {
  readonly parley: string;
  readonly node: string;
  readonly platform: string;
  /** The folder of settings and tokens. */
  readonly home: string;
  /** All of Parley's own folders. */
  readonly folders: HomeFolders;
  readonly proxies: readonly ProxySetting[];
  readonly providers: readonly ProviderCheck[];
  /** The problems of plugins, if there are any. */
  readonly plugins?: readonly string[];
};

/** A proxy from the environment, without its password. */
type ProxySetting = { readonly variable: string; readonly address: string };

type ProviderCheck = {
  readonly id: string;
  readonly label: string;
  readonly state: ProviderState;
  readonly credentials: CredentialStatus;
  /** The base URL and what chose it. Absent if settings for it are missing. */
  readonly endpoint?: { readonly url: string; readonly from: string };
  readonly proxied: boolean;
  /** Number of models it lists, if it responded with a list. */
  readonly models?: number;
  /** The problem, and what to do. */
  readonly problem?: { readonly kind: string; readonly message: string };
};

/** `ok`: responded. `ready`: configured, not contacted. `failed`: does not work. `missing`: something has to be set. */
type ProviderState = "ok" | "ready" | "failed" | "missing";

/** A local server is usable only if it responded; the demo model always is. */
const isUsable = ({ id, state, credentials }: ProviderCheck): boolean =>
  state === "ok" || (state === "ready" && credentials.found && (credentials.kind !== "none" || id === "offline"));

const describeMachine = (world: World, folders: HomeFolders): Omit<DoctorReport, "providers"> => ({
  parley: version,
  node: process.version,
  platform: `${world.host.platform} ${world.host.arch}`,
  home: folders.config,
  folders,
  proxies: proxiesFrom(world.env),
});

/** A line for each plugin, or part of one, that cannot be used. */
const findPluginProblems = async (world: World): Promise<readonly string[]> => {
  const { readPluginStatus } = await import("../../extensions/plugins/session.ts");
  return (await readPluginStatus(world, (await findHomeFolders(world)).data)).flatMap((status) => {
    const problems = status.state === "broken" ? [status.problem] : status.plugin.problems;
    return problems.map((problem) => `${status.installed.name}: ${problem}`);
  });
};

const checkProvider = async (provider: Provider, world: World, isOffline: boolean): Promise<ProviderCheck> => {
  const { id, label, defaultModel } = provider;
  const credentials = await findProviderCredentials(provider, world);
  const base = resolveBaseUrl(provider, world.env);
  const isRemote = base.found && base.url.startsWith("http");
  const facts = {
    id,
    label,
    credentials,
    ...(base.found && isRemote ? { endpoint: { url: base.url, from: base.from } } : {}),
    proxied: base.found && isRemote && needsProxy(world.env, base.url),
  };
  const address = resolveEndpoint(provider, defaultModel, world.env, "generate");
  if (!credentials.found || !address.found)
    return { ...facts, state: "missing", problem: describeMissing(credentials, address) };
  if (isOffline || !isRemote) return { ...facts, state: "ready" };
  if (id === "local") return { ...facts, ...(await checkLocalServers(provider, world, base.url)) };
  return { ...facts, ...(await probeWithTimeout(provider, world)) };
};

/** Looks for servers of local models on their usual ports, or at the configured address. */
const checkLocalServers = async (
  provider: Provider,
  world: World,
  configured: string,
): Promise<Partial<ProviderCheck> & Pick<ProviderCheck, "state">> => {
  const { findLocalServers } = await import("../../transport/queries/local-servers.ts");
  const [server] = await findLocalServers(provider, world);
  if (server === undefined) return probeWithTimeout(provider, world);
  const endpoint = server.url === configured ? {} : { endpoint: { url: server.url, from: server.name } };
  return { state: "ok", ...endpoint, models: server.models.length };
};

/** Lists everything that has to be set, not only the first. */
const describeMissing = (
  credentials: CredentialStatus,
  address: ResolvedEndpoint,
): NonNullable<ProviderCheck["problem"]> => ({
  kind: credentials.found ? "misconfigured" : "no-key",
  message: [credentials, address].flatMap((status) => (status.found ? [] : [status.how])).join(" "),
});

const probeTimeoutMs = 5000;

const probeWithTimeout = async (
  provider: Provider,
  world: World,
): Promise<Pick<ProviderCheck, "state" | "models" | "problem">> => {
  const timeout = new AbortController();
  const stopTimer = world.clock.after(probeTimeoutMs, () => timeout.abort(new Error("timed out")));
  try {
    const { models } = await probeProvider(provider, world, timeout.signal);
    return { state: "ok", ...(models === undefined ? {} : { models }) };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    const { id, label } = provider;
    const failure = timeout.signal.aborted
      ? ({ provider: id, label, kind: "time-out", phase: "headers", ms: probeTimeoutMs } as const)
      : error.failure;
    return { state: "failed", problem: { kind: failure.kind, message: explainFailure(failure) } };
  } finally {
    stopTimer();
  }
};

const proxiesFrom = (env: Environment): readonly ProxySetting[] =>
  ["https_proxy", "http_proxy"].flatMap((name) => {
    const variable = [name, name.toUpperCase()].find((candidate) => (env[candidate] ?? "").trim() !== "");
    return variable === undefined ? [] : [{ variable, address: withoutPassword(env[variable]?.trim() ?? "") }];
  });

/** Removes user name and password. A proxy may be given as host and port only. */
const withoutPassword = (value: string): string => {
  const url = value.includes("://") ? value : `http://${value}`;
  if (!URL.canParse(url)) return "not an HTTP proxy URL";
  const { protocol, host } = new URL(url);
  return /^https?:$/.test(protocol) ? `${protocol}//${host}` : "not an HTTP proxy URL";
};

const formatReport = (report: DoctorReport, { host }: World): string => {
  const [stateWidth = 0, idWidth = 0] = columnWidths(report.providers.map(({ id, state }) => [stateMarks[state], id]));
  const usable = report.providers.filter(isUsable).length;
  const proxies = report.proxies.map(({ variable, address }) => `${address} (${variable})`);
  return [
    `Parley ${report.parley}, Node ${report.node} (${report.platform})`,
    ...describeFolders(report.folders, host.home),
    `Proxy: ${proxies.length === 0 ? "none" : proxies.join(", ")}`,
    "",
    ...report.providers.map((check) => {
      const label = `${stateMarks[check.state].padEnd(stateWidth)}  ${check.id.padEnd(idWidth)}  `;
      return wrapText(label + sanitizeLine(describeCheck(check).join("; ")), " ".repeat(label.length));
    }),
    "",
    summarize(report.providers, usable),
    ...(report.plugins ?? []).map((problem) => wrapText(`Plugin ${sanitizeLine(problem)}`, "  ")),
    "",
  ].join("\n");
};

const summarize = (checks: readonly ProviderCheck[], usable: number): string =>
  usable === 1 && checks.length > 1 && checks.some((check) => check.id === "offline" && isUsable(check))
    ? "Only the built-in demo model can be used. Store a key with parley login."
    : `${usable} of ${checks.length} can be used.`;

const stateMarks: Readonly<Record<ProviderState, string>> = {
  ok: "ok",
  ready: "ready",
  failed: "FAILED",
  missing: "-",
};

/** One line for a single folder, else a line for each. */
const describeFolders = ({ config, data, state, cache }: HomeFolders, home: string): readonly string[] =>
  data === config && state === config
    ? [`Settings and tokens: ${abbreviateHome(config, home)}`]
    : [
        `Settings and tokens: ${abbreviateHome(config, home)}`,
        `Sessions and plugins: ${abbreviateHome(data, home)}`,
        `History: ${abbreviateHome(state, home)}`,
        `Caches: ${abbreviateHome(cache, home)}`,
      ];

const abbreviateHome = (path: string, home: string): string =>
  path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;

const describeCheck = ({
  state,
  credentials,
  endpoint,
  proxied,
  models,
  problem,
}: ProviderCheck): readonly string[] => [
  ...(credentials.found ? [credentials.from] : []),
  ...(problem === undefined || state === "failed" ? [] : [problem.message.replace(/\.$/, "")]),
  ...(endpoint === undefined ? [] : [describeEndpoint(endpoint) + (proxied ? ", through the proxy" : "")]),
  ...(state === "ok"
    ? [models === undefined ? "responds" : `responds, ${models} ${models === 1 ? "model" : "models"}`]
    : []),
  ...(state === "failed" && problem !== undefined ? [problem.message] : []),
];

const describeEndpoint = ({ url, from }: { readonly url: string; readonly from: string }): string =>
  /^[A-Z_]+$/.test(from) ? `${url} (${from})` : url;
