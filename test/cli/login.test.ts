import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { bin, ensureBuilt, type Ran } from "../built.ts";
import { itInAll } from "../support/tier.ts";

const key = "sk-ant-canary-3f81";
const other = "sk-ant-canary-77aa";

/** An API that accepts two keys, and tells which one came. */
let server: Server;
let url: string;
const seen: string[] = [];
beforeAll(async () => {
  ensureBuilt();
  server = createServer((request, response) => {
    const given = String(request.headers["x-api-key"]);
    seen.push(given);
    if (given !== key && given !== other)
      return void response
        .writeHead(401)
        .end('{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}');
    response.end(JSON.stringify({ data: [{ id: "claude-sonnet-5" }], has_more: false }));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "parley-login-")));
  mkdirSync(join(base, "bin"));
  mkdirSync(join(base, "project"));
  seen.splice(0);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const run = async (
  args: readonly string[],
  options: { readonly input?: string; readonly env?: Record<string, string> } = {},
): Promise<Ran> => {
  const child = spawn(process.execPath, [bin, ...args], {
    cwd: join(base, "project"),
    env: {
      PATH: join(base, "bin"),
      HOME: base,
      ANTHROPIC_BASE_URL: url,
      PARLEY_LOCAL_BASE_URL: "http://127.0.0.1:9/v1",
      ...options.env,
    },
  });
  let [out, err] = ["", ""];
  child.stdout.on("data", (bytes: Buffer) => (out += String(bytes)));
  child.stderr.on("data", (bytes: Buffer) => (err += String(bytes)));
  child.stdin.end(options.input ?? "");
  const [code] = (await once(child, "close")) as [number | null];
  return { code, out, err };
};

const file = (): string => join(base, ".parley/auth/keys.json");
const stored = (): unknown => JSON.parse(readFileSync(file(), "utf8"));

describe("parley login", () => {
  it("tests a key with one request, stores it in a file only its owner can read, and later runs use it", async () => {
    const { code, out, err } = await run(["login", "anthropic"], { input: `${key}\n` });
    expect([code, out]).toEqual([0, ""]);
    expect(err).toBe(
      "Testing the key ...\nThe key works: 1 model.\nStored the key for anthropic in ~/.parley/auth/keys.json, readable only by you.\n",
    );
    expect([seen, stored(), statSync(file()).mode & 0o777]).toEqual([
      [key],
      { anthropic: { default: { key } } },
      0o600,
    ]);
    const doctor = await run(["doctor", "--provider", "anthropic"]);
    expect([
      doctor.code,
      doctor.out.includes("responds, 1 model\n"),
      `${doctor.out}${doctor.err}`.includes(key),
    ]).toEqual([0, true, false]);
    expect(seen).toEqual([key, key]);
  });

  it("does not store a key that the provider refuses", async () => {
    const { code, err } = await run(["login", "anthropic"], { input: "sk-ant-wrong\n" });
    expect([code, existsSync(file()), err.includes("sk-ant-wrong")]).toEqual([1, false, false]);
    expect(err).toContain("Nothing was stored.");
  });

  itInAll("stores a key that cannot be tested only with --yes", async () => {
    const env = { ANTHROPIC_BASE_URL: "http://127.0.0.1:9" };
    const refused = await run(["login", "anthropic"], { input: `${key}\n`, env });
    expect([refused.code, existsSync(file())]).toEqual([1, false]);
    expect(refused.err).toContain("The key could not be tested.");
    expect((await run(["login", "anthropic", "--yes"], { input: `${key}\n`, env })).code).toBe(0);
    expect(stored()).toEqual({ anthropic: { default: { key } } });
  });

  itInAll(
    "keeps several keys of one provider, chosen by a flag or a setting; a variable wins unless one is named",
    async () => {
      await run(["login", "anthropic"], { input: `${key}\n` });
      await run(["login", "anthropic", "--profile", "work"], { input: `${other}\n` });
      writeFileSync(join(base, ".parley/settings.json"), JSON.stringify({ profile: "work" }));
      seen.splice(0);
      await run(["doctor", "--provider", "anthropic"]);
      writeFileSync(join(base, ".parley/settings.json"), "{}");
      await run(["doctor", "--provider", "anthropic"]);
      await run(["doctor", "--provider", "anthropic"], { env: { ANTHROPIC_API_KEY: "sk-ant-mine" } });
      expect(seen).toEqual([other, key, "sk-ant-mine"]);
      const unknown = await run(["-p", "Hello.", "--profile", "none"]);
      expect([unknown.code, unknown.err]).toEqual([
        41,
        expect.stringContaining('No stored key has the profile "none".'),
      ]);
    },
  );

  it("uses the system's store if there is one, and never puts the key on a command line or in a file", async () => {
    const log = join(base, "arguments.log");
    const tool = join(base, "bin", "secret-tool");
    writeFileSync(
      tool,
      `#!/bin/sh\necho "$@" >> ${log}\ncase "$1" in store) /bin/cat > ${base}/secret;; lookup) /bin/cat ${base}/secret;; clear) /bin/rm ${base}/secret;; esac\n`,
    );
    chmodSync(tool, 0o755);
    const { code, err } = await run(["login", "anthropic"], { input: `${key}\n` });
    expect([code, err.includes("in the system keyring.\n")]).toEqual([0, true]);
    expect(stored()).toEqual({ anthropic: { default: { in: "system" } } });
    expect(readFileSync(join(base, "secret"), "utf8")).toBe(key);
    seen.splice(0);
    expect((await run(["doctor", "--provider", "anthropic"])).code).toBe(0);
    expect([seen, readFileSync(log, "utf8").includes(key)]).toEqual([[key], false]);
    expect((await run(["logout", "anthropic"])).err).toBe("Deleted the stored key for anthropic.\n");
    expect([stored(), existsSync(join(base, "secret"))]).toEqual([{}, false]);
    expect((await run(["logout", "anthropic"])).code).toBe(1);
  });
});

describe("parley doctor", () => {
  itInAll("counts the demo model as usable and finds a local server", async () => {
    const none = await run(["doctor", "--offline"]);
    expect([none.code, none.out.trimEnd().split("\n").at(-1)]).toEqual([
      1,
      "Only the built-in demo model can be used. Store a key with parley login.",
    ]);
    const found = await run(["doctor", "--provider", "local"], { env: { PARLEY_LOCAL_BASE_URL: `${url}/v1` } });
    expect(found.code).toBe(1);
    const program = `const s=require("http").createServer((q,a)=>a.end('{"data":[{"id":"tiny"}]}')).listen(0,"127.0.0.1",()=>{const c=require("child_process").spawn(process.execPath,[${JSON.stringify(bin)},"doctor","--provider","local"],{stdio:"inherit",env:{...process.env,PARLEY_LOCAL_BASE_URL:"http://127.0.0.1:"+s.address().port+"/v1"}});c.on("exit",code=>process.exit(code))})`;
    const local = spawnSync(process.execPath, ["-e", program], { env: { HOME: base }, encoding: "utf8" });
    expect([local.status, /responds, 1\s+model\n/.test(local.stdout)]).toEqual([0, true]);
  });
});
