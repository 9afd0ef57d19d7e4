import { toHomeFolders } from "../../src/world/home-folders.ts";
import { createServer } from "node:http";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { providers } from "../../src/providers/all.ts";
import { factsDate, listModelFacts } from "../../src/providers/models.ts";
import { listSimulatable } from "../../src/cli/requests/simulated-providers.ts";
import { listSimulatedProviders } from "../../src/sim/registry.ts";
import type { RunningSimulator } from "../../src/sim/serve.ts";
import { version } from "../../src/world/version.ts";
import { ensureBuilt, type Ran } from "../built.ts";
import { canary, everyKey } from "../support/exchange.ts";
import { runCommand } from "../support/run-command.ts";
import { baseVariable, emptyHome, isolatedEnvironment, servedToAll, start } from "../support/started.ts";
import { itInAll } from "../support/tier.ts";

/*
 * The commands that contact providers, run as users do, against local simulators.
 * Keys are fakes with a mark that must never be printed.
 */

const home = emptyHome();
const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> =>
  runCommand(args, { cwd: home.path, env: isolatedEnvironment(home.path, env) });

/** The fields of `models --json` and `doctor --json` that the tests read. */
type ModelsOutput = {
  readonly asOf: string;
  readonly providers: readonly {
    readonly id: string;
    readonly credentials: { readonly found: boolean };
    readonly queried: boolean;
    readonly note?: string;
    readonly models: readonly { readonly id: string; readonly known: boolean; readonly listed?: boolean }[];
  }[];
};
type DoctorOutput = {
  readonly providers: readonly {
    readonly id: string;
    readonly state: string;
    readonly problem?: { readonly kind: string };
  }[];
};
const json = <Value>({ out }: Ran): Value => JSON.parse(out) as Value;

let all: Awaited<ReturnType<typeof servedToAll>>;
const closing: RunningSimulator[] = [];

beforeAll(async () => {
  ensureBuilt();
  all = await servedToAll();
  closing.push(all);
});

afterAll(async () => {
  for (const serving of closing) await serving.close();
  home.remove();
});

const expectNarrowLines = (text: string): void => {
  for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
  expect(text).not.toContain("\u001B");
};

describe("parley models", () => {
  it("lists the models of every provider, providers with credentials first", async () => {
    const { code, out, err } = await run(["models"], { MISTRAL_API_KEY: "k", COHERE_API_KEY: "k" });
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expectNarrowLines(out);
    const heads = [...out.matchAll(/^([a-z-]+): .+ \((.+)\)$/gm)].map(([, id, state]) => [id, state]);
    expect(heads.slice(0, 4)).toEqual([
      ["mistral", "ready"],
      ["cohere", "ready"],
      ["local", "no key needed"],
      ["offline", "no key needed"],
    ]);
    expect(new Set(heads.map(([id]) => id))).toEqual(new Set(providers.map(({ id }) => id)));
    expect(heads).toHaveLength(providers.length);
    expect(out).toMatch(/^ {2}claude-sonnet-5 +1M {2}image document +2 \/ 10$/m);
    expect(out).toContain(`As of ${factsDate}: `);
  });

  it("prints no size or price that is not published", async () => {
    const { out } = await run(["models"]);
    expect(out).toMatch(/^ {2}claude-mythos-5 +image document$/m);
  });

  it("prints the same as JSON", async () => {
    const { asOf, providers: groups } = json<ModelsOutput>(await run(["models", "--json"]));
    expect(asOf).toBe(factsDate);
    for (const { id, queried, models } of groups) {
      expect(queried).toBe(false);
      expect(models.map((model) => model.id)).toEqual(listModelFacts(id).map((model) => model.id));
    }
    expect(groups).toHaveLength(providers.length);
  });

  it.each(listSimulatedProviders().filter((id) => id !== "code-assist" && id !== "cohere"))(
    "asks %s for its list",
    async (id) => {
      const ran = await run(["models", "--provider", id, "--json"], all.env);
      expect({ code: ran.code, err: ran.err }).toEqual({ code: 0, err: "" });
      const [group] = json<ModelsOutput>(ran).providers;
      expect(group).toMatchObject({ id, queried: true, credentials: { found: true } });
      expect(group?.models.filter(({ listed }) => listed).length).toBeGreaterThan(1);
    },
  );

  it("marks listed models that are unknown, and known models that are not listed", async () => {
    const { out, err } = await run(["models", "--provider", "groq"], all.env);
    expect(err).toBe("");
    expect(out).toMatch(/^groq: Groq \(listed now\)$/m);
    expect(out).toMatch(/^ {2}openai\/gpt-oss-120b +131k +0\.15 \/ 0\.6$/m);
    expect(out).toMatch(/^\+ .+ +\d+k$/m);
    expect(out).toMatch(/^- .+/m);
    expect(out).toContain("+ listed by the provider, unknown to Parley\n- known to Parley, not listed");
  });

  it.each<[string, string, Readonly<Record<string, string>>, RegExp]>([
    ["there is no key", "groq", {}, /^parley: Groq was not queried\. Set GROQ_API_KEY\. Showing the models known on /],
    [
      "no server listens",
      "groq",
      { GROQ_API_KEY: `${canary}-key`, PARLEY_GROQ_BASE_URL: "http://127.0.0.1:9" },
      /^parley: 127\.0\.0\.1:9 cannot be reached: .+ Showing the models known on /,
    ],
    [
      "the address is no address",
      "groq",
      { GROQ_API_KEY: "k", PARLEY_GROQ_BASE_URL: `:${canary}:` },
      /^parley: Groq is not set up\. PARLEY_GROQ_BASE_URL is no web address\./,
    ],
    ["there is no list", "code-assist", everyKey, /^parley: Gemini Code Assist does not list its models\. Showing /],
  ])("falls back to the known models if %s, and says why in one line", async (_, id, env, note) => {
    const { code, out, err } = await run(["models", "--provider", id], env);
    expect(code).toBe(0);
    expect(err).toMatch(note);
    expect(err.trimEnd()).not.toContain("\n");
    for (const model of listModelFacts(id)) expect(out).toContain(`  ${model.id}`);
    expect(out + err).not.toContain(canary);
  });

  it("sanitizes a server's output for the terminal, and does not truncate long names", async () => {
    const long = `a-very-long-name-${"x".repeat(70)}`;
    const server = createServer((_, response) =>
      response.end(JSON.stringify({ data: [{ id: "\u001B[2Jevil\nname" }, { id: long, context_length: 4096 }] })),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const env = { PARLEY_LOCAL_BASE_URL: `http://127.0.0.1:${port}/v1` };
    const { code, out } = await run(["models", "--provider", "local"], env);
    server.close();
    expect(code).toBe(0);
    expectNarrowLines(out);
    expect(out).not.toMatch(/[^\P{Cc}\n]/u);
    expect(out).toMatch(new RegExp(`^\\+ ${long}\n +4k$`, "m"));
  });

  it("rejects unknown providers", async () => {
    const { code, err } = await run(["models", "--provider", "antropic"]);
    expect(code).toBe(2);
    expect(err).toContain('There is no provider "antropic". Did you mean anthropic?');
  });
});

describe("parley doctor", () => {
  it("without credentials, says what to set, contacts no provider, and fails", async () => {
    const { code, out, err } = await run(["doctor", "--offline"]);
    expect({ code, err }).toEqual({ code: 1, err: "" });
    expectNarrowLines(out);
    expect(out).toMatch(
      new RegExp(
        `^Parley ${version}, Node ${process.version} \\(${process.platform} ${process.arch}\\)\n` +
          "Settings and tokens: ~/\\.parley\nProxy: none\n\n",
      ),
    );
    expect(out).toMatch(/^- {6}anthropic {4}Set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN; https:\/\/api\.anthropic/m);
    expect(out).toMatch(/^- {6}azure {8}Set AZURE_OPENAI_API_KEY\. Set AZURE_OPENAI_ENDPOINT to the address of your/m);
    expect(out).toMatch(/^ready {2}local {8}no key set \(optional\); http:\/\/127\.0\.0\.1:11434\/v1$/m);
    expect(out).toContain("\nOnly the built-in demo model can be used. Store a key with parley login.\n");
  });

  it("reports every provider that responds, with its endpoint and what set it", async () => {
    const { code, out, err } = await run(["doctor"], all.env);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    for (const id of listSimulatable()) {
      const line = new RegExp(`^ok +${id} .*?(?=^\\S|^$)`, "ms").exec(out)?.[0].replaceAll(/\s+/g, " ");
      expect(line).toContain(`${all.url}/${id}`);
      expect(line).toContain(`(${baseVariable(id)});`);
      expect(line).toContain("responds");
    }
    expect(out).toContain(`\n${listSimulatable().length + 1} of ${providers.length} can be used.\n`);
    expect(out).not.toContain(canary);
  });

  it("checks one provider, and prints JSON", async () => {
    const ran = await run(["doctor", "--provider", "groq", "--json"], all.env);
    expect({ code: ran.code, err: ran.err }).toEqual({ code: 0, err: "" });
    expect(json(ran)).toEqual({
      parley: version,
      node: process.version,
      platform: `${process.platform} ${process.arch}`,
      home: join(home.path, ".parley"),
      folders: toHomeFolders(join(home.path, ".parley")),
      proxies: [],
      providers: [
        {
          id: "groq",
          label: "Groq",
          credentials: { found: true, from: "GROQ_API_KEY", kind: "key" },
          endpoint: { url: `${all.url}/groq/openai/v1`, from: "PARLEY_GROQ_BASE_URL" },
          proxied: false,
          state: "ok",
          models: expect.any(Number) as number,
        },
      ],
    });
    expect((await run(["doctor", "--provider", "mistral"], { GROQ_API_KEY: "k" })).code).toBe(1);
  });

  it("accepts credentials unchecked with --offline", async () => {
    const { code, out } = await run(["doctor", "--offline"], {
      GROQ_API_KEY: "k",
      PARLEY_GROQ_BASE_URL: "http://127.0.0.1:9",
      PARLEY_HOME: join(home.path, "elsewhere"),
    });
    expect(code).toBe(0);
    expect(out).toMatch(/^ready {2}groq {9}GROQ_API_KEY; http:\/\/127\.0\.0\.1:9 \(PARLEY_GROQ_BASE_URL\)$/m);
    expect(out).toContain("Settings and tokens: ~/elsewhere\n");
    expect(out).toContain(`\n2 of ${providers.length} can be used.\n`);
  });

  it("shows the proxy and the providers behind it, without the password", async () => {
    const env = { GROQ_API_KEY: "k", HTTPS_PROXY: `http://me:${canary}@proxy.test:3128`, NO_PROXY: "api.mistral.ai" };
    const { out } = await run(["doctor", "--offline"], env);
    expect(out).toContain("\nProxy: http://proxy.test:3128 (HTTPS_PROXY)\n");
    expect(out).toMatch(/^ready {2}groq .*; https:\/\/api\.groq\.com\/openai\/v1, through the proxy$/m);
    expect(out).toMatch(/^- {6}mistral .*https:\/\/api\.mistral\.ai\/v1$/m);
    expect(out).not.toContain(canary);
    const odd = await run(["doctor", "--offline"], { HTTPS_PROXY: `socks5://me:${canary}@proxy.test` });
    expect(odd.out).toContain("\nProxy: not an HTTP proxy URL (HTTPS_PROXY)\n");
    expect(odd.out + odd.err).not.toContain(canary);
  });
});

describe("settings that only some providers need", () => {
  const noProxy = "http://127.0.0.1:9";
  const elsewhere = emptyHome();
  const credentials = join(elsewhere.path, "google.json");
  afterAll(elsewhere.remove);

  it.each<[string, string, Readonly<Record<string, string>>, RegExp]>([
    [
      "a proxy",
      "groq",
      { GROQ_API_KEY: `${canary}-key`, HTTPS_PROXY: noProxy },
      /^FAILED .* https:\/\/api\.groq\.com\/openai\/v1, through the proxy; api\.groq\.com cannot be reached: /m,
    ],
    [
      "a file of Google's",
      "vertex",
      {
        HTTPS_PROXY: noProxy,
        GOOGLE_CLOUD_PROJECT: "p",
        GOOGLE_APPLICATION_CREDENTIALS: credentials,
      },
      /^FAILED .* application default credentials at .*; oauth2\.googleapis\.com cannot be reached/m,
    ],
    ["a profile of AWS", "bedrock", {}, /^ok .* AWS profile default; .* responds, \d+ models$/m],
  ])("is loaded with the built program: %s", async (_, id, env, expected) => {
    mkdirSync(join(elsewhere.path, ".aws"), { recursive: true });
    const keys = `[default]\naws_access_key_id = AKIDEXAMPLE\naws_secret_access_key = ${canary}\n`;
    writeFileSync(join(elsewhere.path, ".aws", "credentials"), keys);
    const authorized = { client_id: "c", client_secret: canary, refresh_token: canary, type: "authorized_user" };
    writeFileSync(credentials, JSON.stringify(authorized));
    const moved = id === "groq" ? {} : { [baseVariable(id)]: all.env[baseVariable(id)]! };
    const started = start(["doctor", "--provider", id], { home: elsewhere.path, env: { ...moved, ...env } });
    const { out, err } = await started.ended;
    expect(err).toBe("");
    expect(out.replaceAll(/\n {4,}/g, " ")).toMatch(expected);
    expect(out).not.toContain(canary);
  });
});

describe("keys are never printed", () => {
  const moved = (to: (id: string) => string): Readonly<Record<string, string>> =>
    Object.fromEntries(listSimulatable().map((id) => [baseVariable(id), to(id)]));

  /** Failures of all servers at once, and the failure kind reported for a provider with a key. */
  const failures: readonly (readonly [string, () => Promise<Readonly<Record<string, string>>>, string])[] = [
    [
      "no key is accepted, and servers quote the key they refuse",
      async () => {
        const quoting = createServer(({ headers }, response) => {
          response.writeHead(401, { "content-type": "application/json" });
          response.end(JSON.stringify({ error: { message: `Incorrect API key: ${JSON.stringify(headers)}` } }));
        });
        await new Promise<void>((resolve) => quoting.listen(0, "127.0.0.1", resolve));
        closing.push({ url: "", close: async () => void quoting.close() });
        return { ...everyKey, ...moved(() => `http://127.0.0.1:${(quoting.address() as AddressInfo).port}`) };
      },
      "bad-key",
    ],
    ["no server listens", async () => ({ ...everyKey, ...moved(() => "http://127.0.0.1:9") }), "network"],
    [
      "servers point elsewhere",
      async () => {
        const serving = await servedToAll({
          faults: [{ fault: { type: "redirect", to: "https://elsewhere.example" } }],
        });
        closing.push(serving);
        return serving.env;
      },
      "refused",
    ],
    [
      "addresses hold a password",
      async () => ({ ...everyKey, ...moved(() => `https://me:${canary}@gate.test/v1`) }),
      "misconfigured",
    ],
    [
      "addresses hold a key in their query",
      async () => ({ ...everyKey, ...moved((id) => `http://127.0.0.1:9/${id}?key=${canary}`) }),
      "network",
    ],
    [
      "keys hold what no header can carry",
      async () => ({
        ...Object.fromEntries(Object.entries(everyKey).map(([name, key]) => [name, `${key} ${canary}\n`])),
        ...moved(() => "http://127.0.0.1:9"),
      }),
      "no-key",
    ],
  ];

  it.each(failures)("when %s", async (_, prepare, kind) => {
    const env = await prepare();
    const runs = await Promise.all(
      [
        ["doctor"],
        ["doctor", "--json"],
        ["models", "--provider", "openai"],
        ["models", "--provider", "bedrock", "--json"],
      ].map((args) => run(args, env)),
    );
    for (const { out, err } of runs) {
      expect(out + err).not.toContain(canary);
      expect(out + err).not.toContain("bug in Parley");
    }
    const { providers: found } = json<DoctorOutput>(runs[1]!);
    expect(found.find(({ id }) => id === "openai")?.problem?.kind).toBe(kind);
    expect(runs[0]?.code).toBe(1);
    expectNarrowLines(runs[0]?.out ?? "");
  });

  itInAll("when servers never respond; the check times out", async () => {
    const serving = await servedToAll({ faults: [{ fault: { type: "never-answer" } }] });
    closing.push(serving);
    const ran = await run(["doctor", "--json"], serving.env);
    const { providers: found } = json<DoctorOutput>(ran);
    expect(new Set(found.map(({ problem }) => problem?.kind))).toEqual(new Set(["time-out", undefined]));
    expect(ran.code).toBe(1);
    expect(ran.out + ran.err).not.toContain(canary);
  });
});

describe("parley login and logout", () => {
  const client = {
    PARLEY_GOOGLE_OAUTH_CLIENT_ID: "a-client.apps.example",
    PARLEY_GOOGLE_OAUTH_CLIENT_SECRET: `${canary}-client`,
  };
  const forms: { readonly path: string; readonly fields: Readonly<Record<string, string>> }[] = [];
  const google = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += String(chunk)));
    request.on("end", () => {
      forms.push({ path: request.url ?? "", fields: Object.fromEntries(new URLSearchParams(text)) });
      const tokens = { access_token: `${canary}-access`, refresh_token: `${canary}-refresh`, expires_in: 3600 };
      response.end(JSON.stringify(request.url === "/token" ? tokens : {}));
    });
  });
  const env = async (): Promise<Readonly<Record<string, string>>> => {
    if (!google.listening) await new Promise<void>((resolve) => google.listen(0, "127.0.0.1", resolve));
    return {
      ...client,
      PARLEY_GOOGLE_OAUTH_BASE_URL: `http://127.0.0.1:${(google.address() as AddressInfo).port}`,
    };
  };
  const tokens = join(home.path, ".parley", "auth", "code-assist.json");

  afterAll(() => void google.close());

  it("report that an OAuth client has to be configured", async () => {
    const { code, out, err } = await run(["login"]);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain("Set PARLEY_GOOGLE_OAUTH_CLIENT_ID and PARLEY_GOOGLE_OAUTH_CLIENT_SECRET");
  });

  it("print only the URL to stdout, and store tokens readable only by their owner", async () => {
    const vars = await env();
    const signingIn = start(["login", "--provider", "code-assist"], { home: home.path, env: vars });
    const address = new URL(await signingIn.firstLine);
    expect(address.origin).toBe(vars["PARLEY_GOOGLE_OAUTH_BASE_URL"]);
    const back = new URL(address.searchParams.get("redirect_uri") ?? "");
    back.search = new URLSearchParams({ code: "a-code", state: address.searchParams.get("state") ?? "" }).toString();
    expect((await fetch(back)).status).toBe(200);

    const { code, out, err } = await signingIn.ended;
    expect({ code, out }).toEqual({ code: 0, out: `${address.href}\n` });
    expect(err).toContain(`Signed in. The tokens are in ${tokens}`);
    expect(out + err).not.toContain(canary);
    expect(forms.at(-1)).toMatchObject({ path: "/token", fields: { code: "a-code" } });
    expect(JSON.parse(readFileSync(tokens, "utf8"))).toMatchObject({ refresh: `${canary}-refresh` });
    if (process.platform !== "win32") expect(statSync(tokens).mode & 0o777).toBe(0o600);
  });

  it("are reported by doctor", async () => {
    const ran = await run(["doctor", "--offline", "--provider", "code-assist"], await env());
    expect(ran.code).toBe(0);
    expect(ran.out.replaceAll(/\s+/g, " ")).toContain("ready code-assist signed in with Google (tokens in ");
    expect(ran.out + ran.err).not.toContain(canary);
  });

  it("delete all tokens, also when repeated", async () => {
    const vars = await env();
    for (const _ of ["once", "twice"])
      expect(await run(["logout"], vars)).toEqual({ code: 0, out: "", err: "Signed out. The tokens are deleted.\n" });
    expect(forms.at(-1)).toEqual({ path: "/revoke", fields: { token: `${canary}-refresh` } });
    expect(() => readFileSync(tokens)).toThrow("ENOENT");
    expect((await run(["doctor", "--offline", "--provider", "code-assist"], vars)).code).toBe(1);
  });

  it("reject providers that take no key", async () => {
    const { code, err } = await run(["login", "--provider", "bedrock"]);
    expect(code).toBe(2);
    expect(err).toContain("takes no key to store. parley doctor says what it needs.");
  });
});
