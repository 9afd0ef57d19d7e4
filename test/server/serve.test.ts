import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { serveCommand } from "../../src/cli/serve/command.ts";
import { openServer, stopServer } from "../../src/cli/serve/run.ts";
import { parseArguments } from "../../src/cli/parse-arguments.ts";
import { runCommand } from "../support/run-command.ts";
import { readEvents } from "./read-events.ts";

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "parley-serve-")));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

describe("parley serve", () => {
  it.each<readonly [string, readonly string[], string]>([
    ["another address without TLS", ["--host", "0.0.0.0"], "add --behind-tls"],
    ["another address without tokens", ["--host", "0.0.0.0", "--behind-tls"], "needs --tokens FILE or --oidc-issuer"],
    [
      "another address without a name",
      ["--host", "0.0.0.0", "--behind-tls", "--tokens", "tokens.json"],
      "needs --public-host NAME",
    ],
    ["an issuer without an audience", ["--oidc-issuer", "https://id.example"], "belong together"],
    ["an issuer in the clear", ["--oidc-issuer", "http://id.example", "--oidc-audience", "x"], "must be an https URL"],
    ["a token instead of its digest", ["--tokens", "plain.json"], "never the token itself"],
    ["a folder that is not there", ["--folder", "nosuch"], "No such folder: nosuch."],
    ["a wrong port", ["--port", "x"], "--port must be a number"],
  ])("refuses %s", async (_, args, message) => {
    writeFileSync(join(base, "plain.json"), JSON.stringify({ tokens: [{ sha256: "secret", tenant: "a" }] }));
    const { code, err } = await runCommand(["serve", ...args], {
      cwd: base,
      env: { ...process.env, PARLEY_HOME: base },
    });
    expect(code).toBe(2);
    expect(err).toContain(message);
  });

  it("serves with one random token, and stops without losing what was acknowledged", async () => {
    process.env["PARLEY_HOME"] = base;
    try {
      const args = parseArguments(serveCommand, ["--folder", base, "--model", "offline"]);
      const { door, service, token } = await openServer(args);
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const created = await fetch(`${door.url}/v1/sessions`, { method: "POST", headers, body: "{}" });
      const { id } = (await created.json()) as { readonly id: string };
      const path = `${door.url}/v1/sessions/${id}`;
      await fetch(`${path}/messages`, { method: "POST", headers, body: JSON.stringify({ text: "hello" }) });
      const events = await readEvents(await fetch(`${path}/events?until=idle`, { headers }));
      expect(events.at(-1)?.event).toBe("turn");
      expect((await fetch(path)).status).toBe(401);
      await stopServer({ door, service }, 1000);
      await expect(fetch(path, { headers })).rejects.toThrow();
    } finally {
      delete process.env["PARLEY_HOME"];
    }
  });
});
