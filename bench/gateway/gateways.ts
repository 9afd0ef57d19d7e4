import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Way } from "./load.ts";

/** The two APIs of the bench: of the client, and of the target. */
export type Api = "chat" | "messages";

const paths = { chat: "/v1/chat/completions", messages: "/v1/messages" } as const;
const models = { chat: "gpt-4o", messages: "claude-opus-5" } as const;

/** A gateway that runs; `way` is undefined where it does not translate between these APIs. */
export type RunningGateway = { readonly way: (client: Api, target: Api) => Way | undefined };

/** Starts the target and the gateways: ours, the bare proxy, and the peers installed in these folders. */
export const startGateways = async (
  peers: readonly string[],
): Promise<{ readonly gateways: readonly RunningGateway[]; readonly close: () => void }> => {
  const children: ChildProcess[] = [];
  const close = (): void => children.forEach((child) => child.kill("SIGKILL"));
  try {
    const target = await startBackend(children);
    const start: Start = async (file, args, env = {}) => {
      const child = spawn(process.execPath, [file, ...args], {
        env: { PATH: process.env["PATH"] ?? "", HOME: home, ...env },
        stdio: "ignore",
      });
      children.push(child);
      return child.pid ?? 0;
    };
    const home = mkdtempSync(join(tmpdir(), "parley-bench-"));
    const context: StartContext = { start, target: `http://127.0.0.1:${target}`, targetPort: target, home };
    const gateways: RunningGateway[] = [
      { way: (_, api) => ({ name: "direct", url: context.target + paths[api], headers: {}, model: models[api] }) },
      await startBareProxy(context),
      await startParley(context),
    ];
    for (const folder of peers) {
      gateways.push(...(await startPortkey(context, folder)), ...(await startRouter(context, folder)));
    }
    return { gateways, close };
  } catch (error) {
    close();
    throw error;
  }
};

type Start = (file: string, args: readonly string[], env?: Readonly<Record<string, string>>) => Promise<number>;
type StartContext = {
  readonly start: Start;
  readonly target: string;
  readonly targetPort: number;
  readonly home: string;
};

const startBackend = (children: ChildProcess[]): Promise<number> => {
  const child = spawn(process.execPath, [join(import.meta.dirname, "backend.mjs")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  return new Promise((resolve) => child.stdout?.once("data", (text: Buffer) => resolve(Number(String(text)))));
};

const startBareProxy = async ({ start, targetPort }: StartContext): Promise<RunningGateway> => {
  const port = await freePort();
  const pid = await start(join(import.meta.dirname, "bare-proxy.mjs"), [String(port), String(targetPort)]);
  await waitUntilUp(port);
  return {
    way: (client, api) =>
      client !== api
        ? undefined
        : { name: "bare proxy", url: `http://127.0.0.1:${port}${paths[api]}`, headers: {}, model: models[api], pid },
  };
};

const startParley = async ({ start, target, home }: StartContext): Promise<RunningGateway> => {
  const port = await freePort();
  const token = "bench-token";
  const pid = await start("dist/parley.cjs", ["gateway", "--port", String(port), "--token", token], {
    PARLEY_HOME: join(home, ".parley"),
    OPENAI_API_KEY: "sk-bench",
    ANTHROPIC_API_KEY: "sk-ant-bench",
    PARLEY_OPENAI_CHAT_BASE_URL: `${target}/v1`,
    PARLEY_ANTHROPIC_BASE_URL: `${target}`,
  });
  await waitUntilUp(port);
  return {
    way: (client, api) => ({
      name: "parley",
      url: `http://127.0.0.1:${port}${paths[client]}`,
      headers: { authorization: `Bearer ${token}`, "anthropic-version": "2023-06-01" },
      model: `${api === "chat" ? "openai-chat" : "anthropic"}/${models[api]}`,
      pid,
    }),
  };
};

const startPortkey = async ({ start, target }: StartContext, folder: string): Promise<readonly RunningGateway[]> => {
  const package_ = join(folder, "node_modules/@portkey-ai/gateway");
  if (!existsSync(package_)) return [];
  const port = await freePort();
  const env = { NODE_ENV: "production" };
  const pid = await start(join(package_, "build/start-server.js"), [`--port=${port}`, "--headless"], env);
  await waitUntilUp(port);
  const way = (client: Api, api: Api): Way | undefined =>
    client === "messages" && api === "chat"
      ? undefined
      : {
          name: `portkey ${versionOf(package_)}`,
          url: `http://127.0.0.1:${port}${paths[client]}`,
          headers: {
            authorization: "Bearer sk-bench",
            "x-portkey-provider": api === "chat" ? "openai" : "anthropic",
            "x-portkey-custom-host": `${target}/v1`,
          },
          model: models[api],
          pid,
        };
  return [{ way }];
};

const startRouter = async (
  { start, target, home }: StartContext,
  folder: string,
): Promise<readonly RunningGateway[]> => {
  const package_ = join(folder, "node_modules/@musistudio/claude-code-router");
  if (!existsSync(package_)) return [];
  const version = versionOf(package_);
  const port = await freePort();
  const own = join(home, `ccr-${version}`);
  mkdirSync(join(own, ".claude-code-router"), { recursive: true });
  writeFileSync(
    join(own, ".claude-code-router/config.json"),
    JSON.stringify({
      PORT: port,
      LOG: false,
      NON_INTERACTIVE_MODE: true,
      Providers: [
        { name: "chat", api_base_url: target + paths.chat, api_key: "sk-bench", models: [models.chat] },
        {
          name: "messages",
          api_base_url: target + paths.messages,
          api_key: "sk-bench",
          models: [models.messages],
          transformer: { use: ["Anthropic"] },
        },
      ],
      Router: { default: `chat,${models.chat}` },
    }),
  );
  const pid = await start(join(package_, "dist/cli.js"), ["start"], { HOME: own });
  await waitUntilUp(port);
  const way = (client: Api, api: Api): Way | undefined =>
    client === "chat"
      ? undefined
      : {
          name: `ccr ${version}`,
          url: `http://127.0.0.1:${port}${paths.messages}`,
          headers: { "x-api-key": "any", "anthropic-version": "2023-06-01" },
          model: `${api},${models[api]}`,
          pid,
        };
  return [{ way }];
};

const versionOf = (folder: string): string => {
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string };
  return version;
};

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });

const waitUntilUp = async (port: number): Promise<void> => {
  for (let attempt = 0; attempt < 300; attempt++) {
    const isUp = await new Promise<boolean>((resolve) => {
      request({ port, path: "/", timeout: 500 }, (response) => resolve(response.resume().statusCode !== undefined))
        .on("error", () => resolve(false))
        .end();
    });
    if (isUp) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`Nothing listens on port ${port}.`);
};
