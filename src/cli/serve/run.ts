import { resolve as resolvePath } from "node:path";
import { openLocalService, ownTenant } from "../../fleet/local-service.ts";
import { ServiceError } from "../../fleet/service-error.ts";
import type { SessionService } from "../../fleet/service.ts";
import { createToken, hashToken, isLoopback } from "../../http/request-guard.ts";
import { acceptAny, acceptTokens, parseTokenFile, type AuthenticateToken } from "../../server/authenticate.ts";
import { openFrontDoor, type DoorExtension, type FrontDoor } from "../../server/front-door.ts";
import { acceptOidcTokens } from "../../server/oidc.ts";
import { findHomeFolders } from "../../world/home-folders.ts";
import { realWorld } from "../../world/real/world.ts";
import type { World } from "../../world/world.ts";
import type { Arguments, CommandHandler } from "../command.ts";
import { readJson } from "../json/read.ts";
import { parsePort, waitForSignal } from "../requests/simulate.ts";
import { usageError, UserError } from "../user-error.ts";
import type { ProcessTelemetry } from "../../telemetry/telemetry.ts";
import { openObservedAgent, openServerTelemetry } from "./telemetry.ts";

/** `parley serve`: serves sessions until interrupted. */
export const serve: CommandHandler = async (args) => {
  const stopped = waitForSignal();
  const { token, ...server } = await openServer(args);
  const { door } = server;
  process.stdout.write(`${door.url}\n`);
  if (token !== undefined) process.stderr.write(`Token (shown once): ${token}\n`);
  process.stderr.write("Listening. Press Ctrl-C to stop.\n");
  await stopped;
  await stopServer(server, 1000 * parseSeconds(args.value("grace")));
  return 0;
};

/** A server that runs. `token` is set if it made one. */
export type RunningServer = {
  readonly door: FrontDoor;
  readonly service: SessionService;
  readonly telemetry?: ProcessTelemetry | undefined;
  readonly token: string | undefined;
};

/** Opens the server that the arguments describe. Everything is checked before it listens. */
export const openServer = async (args: Arguments): Promise<RunningServer> => {
  const port = parsePort(args.value("port"));
  const host = args.value("host") ?? "127.0.0.1";
  checkExposure(args, host);
  parseSeconds(args.value("grace"));
  const world = realWorld();
  const { authenticate, token } = await chooseAuthentication(args, world);
  const { service, telemetry } = await openService(args, world);
  try {
    const door = await openFrontDoor({
      service,
      authenticate,
      operator: ownTenant,
      host,
      port,
      hosts: args.values("public-host"),
      origins: args.values("allow-origin"),
      startTrace: telemetry?.startRequest,
      extensions: args.has("a2a") ? [await createA2a(args, service)] : [],
      ...(args.has("log")
        ? {
            onAnswer: ({ method, route, status, milliseconds }) =>
              process.stderr.write(`${method} ${route} ${status} ${milliseconds.toFixed(1)} ms\n`),
          }
        : {}),
    });
    return { door, service, telemetry, token };
  } catch (error) {
    await service.close();
    throw new UserError(`Cannot listen: ${error instanceof Error ? error.message : String(error)}.`, { code: 1 });
  }
};

const createA2a = async (args: Arguments, service: SessionService): Promise<DoorExtension> => {
  const { createA2aExtension } = await import("../../a2a/door-extension.ts");
  const [name] = args.values("public-host");
  return createA2aExtension(service, args.has("behind-tls") && name !== undefined ? { url: `https://${name}` } : {});
};

/** Takes no more work, lets turns end for a while, then closes. A turn that is left is continued at the next start. */
export const stopServer = async (
  { door, service, telemetry }: Omit<RunningServer, "token">,
  milliseconds: number,
): Promise<void> => {
  const draining = service.drain(milliseconds);
  await door.close(Math.min(milliseconds, 2000));
  await draining;
  if ((await service.gauges()).runningTurns === 0) await service.close();
  await telemetry?.close();
};

/** Anything beyond this machine needs a proxy that ends TLS, named hosts, and tokens the operator chose. */
const checkExposure = (args: Arguments, host: string): void => {
  if (isLoopback(host)) return;
  if (!args.has("behind-tls"))
    throw usageError(
      `--host ${host} is reachable from other machines: tokens would travel in the clear. Put a proxy that ends TLS in front and add --behind-tls.`,
    );
  if (args.value("tokens") === undefined && args.value("oidc-issuer") === undefined)
    throw usageError(`--host ${host} needs --tokens FILE or --oidc-issuer URL.`);
  if (args.values("public-host").length === 0)
    throw usageError(`--host ${host} needs --public-host NAME: the name that clients use.`);
};

const chooseAuthentication = async (
  args: Arguments,
  world: World,
): Promise<{ readonly authenticate: AuthenticateToken; readonly token: string | undefined }> => {
  const [file, issuer, audience] = [args.value("tokens"), args.value("oidc-issuer"), args.value("oidc-audience")];
  if ((issuer === undefined) !== (audience === undefined))
    throw usageError("--oidc-issuer and --oidc-audience belong together.");
  const ways: AuthenticateToken[] = [];
  if (file !== undefined) ways.push(acceptTokens(await readTokens(file)));
  if (issuer !== undefined && audience !== undefined) ways.push(acceptIssuer(args, world, { issuer, audience }));
  if (ways.length > 0) return { authenticate: acceptAny(ways), token: undefined };
  const token = createToken();
  return { authenticate: acceptTokens([{ sha256: hashToken(token), tenant: ownTenant }]), token };
};

const readTokens = async (file: string): Promise<ReturnType<typeof parseTokenFile>> => {
  const value = await readJson(file);
  try {
    return parseTokenFile(value);
  } catch (error) {
    throw new UserError(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
};

const acceptIssuer = (
  args: Arguments,
  world: World,
  { issuer, audience }: { readonly issuer: string; readonly audience: string },
): AuthenticateToken => {
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined;
  if (url === undefined || (url.protocol !== "https:" && !isLoopback(url.hostname)))
    throw usageError(`--oidc-issuer must be an https URL, not "${issuer}".`);
  const claim = args.value("oidc-tenant-claim");
  return acceptOidcTokens({
    issuer,
    audience,
    ...(claim === undefined ? {} : { tenantClaim: claim }),
    now: () => world.clock.now(),
    fetchJson: async (address) => {
      const response = await fetch(address, { redirect: "error", signal: AbortSignal.timeout(10_000) });
      if (!response.ok) throw new Error(`${address} answered ${response.status}.`);
      return response.json();
    },
  });
};

const openService = async (args: Arguments, world: World): Promise<Pick<RunningServer, "service" | "telemetry">> => {
  const named = args.values("folder").length === 0 ? ["."] : args.values("folder");
  const folders = await Promise.all(
    named.map(async (folder) => {
      const found = await world.disk.canonicalPath(resolvePath(folder));
      if (found === undefined) throw new UserError(`No such folder: ${folder}.`);
      return found;
    }),
  );
  const model = args.value("model");
  const home = await findHomeFolders(world);
  const telemetry = await openServerTelemetry(world, { home, folder: folders[0] ?? "." });
  const { hasDatabase, openFleetService } = await import("../store/fleet-service.ts");
  if (hasDatabase(args, world)) return { service: await openFleetService(args, world, { folders, model }), telemetry };
  try {
    const service = await openLocalService({
      world,
      home,
      folders,
      maxOpen: parseCount(args.value("max-open")),
      ...(model === undefined ? {} : { flags: { model: [model] } }),
      ...(telemetry === undefined ? {} : { openAgent: openObservedAgent(telemetry) }),
    });
    return { service, telemetry };
  } catch (error) {
    if (error instanceof ServiceError) throw new UserError(error.message, { code: 1 });
    throw error;
  }
};

const parseCount = (text: string | undefined): number => {
  const count = text === undefined ? 16 : Number(text);
  if (Number.isInteger(count) && count > 0 && count <= 10_000) return count;
  throw usageError(`--max-open must be a number from 1 to 10000, not "${text}".`);
};

const parseSeconds = (text: string | undefined): number => {
  const seconds = text === undefined ? 30 : Number(text);
  if (Number.isFinite(seconds) && seconds >= 0 && seconds <= 86_400) return seconds;
  throw usageError(`--grace must be a number of seconds, not "${text}".`);
};
