import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { findProvider } from "../../providers/find.ts";
import { realWorld } from "../../world/real/world.ts";
import { simulatedWorld } from "../../world/simulated/world.ts";
import type { World } from "../../world/world.ts";
import { signInToCodeAssist, signOutOfCodeAssist } from "./code-assist-sign-in.ts";
import { authorize, findCredentials, openCredentials, renewCredentials } from "./credentials.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

type Form = Readonly<Record<string, string>>;
type Service = { readonly url: string; readonly forms: Form[]; answer: (form: Form) => readonly [number, unknown] };

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text;
};

/** A sign-in service: its page sends the visitor straight back with a code, which is good with the right verifier alone. */
const openService = async (): Promise<Service> => {
  const challenges = new Map<string, string>();
  const forms: Form[] = [];
  let given = 0;
  const service = {
    url: "",
    forms,
    answer: ({ grant_type, code = "", code_verifier = "" }: Form): readonly [number, unknown] => {
      const isProven = createHash("sha256").update(code_verifier).digest("base64url") === challenges.get(code);
      if (grant_type === "authorization_code" && !isProven) return [400, { error: "invalid_grant" }];
      given += 1;
      return [200, { access_token: `access-${given}`, refresh_token: `refresh-${given}`, expires_in: 3600 }];
    },
  };
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", service.url);
    if (pathname === "/o/oauth2/v2/auth") {
      challenges.set("code-1", searchParams.get("code_challenge") ?? "");
      const back = new URL(searchParams.get("redirect_uri") ?? "");
      back.search = new URLSearchParams({ code: "code-1", state: searchParams.get("state") ?? "" }).toString();
      response.writeHead(302, { location: back.href }).end();
      return;
    }
    void bodyOf(request).then((text) => {
      const form = { path: pathname, ...Object.fromEntries(new URLSearchParams(text)) };
      forms.push(form);
      const [status, body] = pathname === "/revoke" ? [200, {}] : service.answer(form);
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  service.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return service;
};

const worldAt = async ({ url }: Service): Promise<{ world: World; file: string }> => {
  const home = await mkdtemp(join(tmpdir(), "parley-auth-"));
  closers.push(() => rm(home, { recursive: true }));
  const env = {
    PARLEY_HOME: home,
    PARLEY_GOOGLE_OAUTH_BASE_URL: url,
    PARLEY_GOOGLE_OAUTH_CLIENT_ID: "client-1",
    PARLEY_GOOGLE_OAUTH_CLIENT_SECRET: "canary-secret",
  };
  return { world: realWorld(env), file: join(home, "auth", "code-assist.json") };
};

const codeAssist = findProvider("code-assist");
const bearerOf = async (credentials: ReturnType<typeof openCredentials>): Promise<string | undefined> => {
  const url = "https://cloudcode-pa.googleapis.com/v1internal:generateContent";
  return (await authorize({ method: "POST", url, headers: {} }, codeAssist, credentials)).headers["authorization"];
};

/** Opens the page that is shown, as a browser would: redirects and all. */
const browse = (url: string): void => void fetch(url).then((page) => page.text());

describe("signing in to Code Assist", () => {
  it("keeps the tokens in a file for its owner alone, and signs requests with them", async () => {
    const service = await openService();
    const { world, file } = await worldAt(service);
    const before = await findCredentials(codeAssist, world);
    const kept = await signInToCodeAssist(world, { show: browse });

    expect(before).toEqual({ found: false, how: "Sign in with parley login." });
    expect(kept).toBe(file);
    expect([(await stat(file)).mode & 0o777, (await stat(join(file, ".."))).mode & 0o777]).toEqual([0o600, 0o700]);
    expect(await findCredentials(codeAssist, world)).toEqual({
      found: true,
      from: `signed in with Google (tokens in ${file})`,
      kind: "sign-in",
    });
    expect(await bearerOf(openCredentials(world))).toBe("Bearer access-1");
    expect(service.forms.length).toBe(1);
  });

  it("shows an address that asks for lasting access and gives nothing away", async () => {
    const service = await openService();
    const { world } = await worldAt(service);
    const shown: URL[] = [];
    await signInToCodeAssist(world, {
      show: (url) => {
        shown.push(new URL(url));
        browse(url);
      },
    });
    const { state, redirect_uri, code_challenge, ...rest } = Object.fromEntries(shown[0]?.searchParams ?? []);

    expect(rest).toEqual({
      client_id: "client-1",
      response_type: "code",
      scope: [
        "https://www.googleapis.com/auth/cloud-platform",
        "https://www.googleapis.com/auth/userinfo.email",
        "https://www.googleapis.com/auth/userinfo.profile",
      ].join(" "),
      code_challenge_method: "S256",
      access_type: "offline",
      prompt: "consent",
    });
    expect(redirect_uri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    expect([state?.length, code_challenge?.length]).toEqual([43, 43]);
    expect(shown[0]?.href).not.toContain("canary");
  });

  it("is not ended by visitors that do not know its state", async () => {
    const service = await openService();
    const { world } = await worldAt(service);
    const seen: number[] = [];
    await signInToCodeAssist(world, {
      show: (url) => {
        const desk = new URL(new URL(url).searchParams.get("redirect_uri") ?? "");
        const strangers = [
          fetch(new URL("/favicon.ico", desk)),
          fetch(new URL("?code=stolen&state=guessed", desk)),
          fetch(new URL(`?code=stolen&state=${"x".repeat(43)}`, desk)),
          fetch(new URL(`?code=stolen&state=${"ü".repeat(43)}`, desk)),
          fetch(desk, { method: "POST" }),
        ];
        void Promise.all(strangers).then((answers) => {
          seen.push(...answers.map(({ status }) => status));
          browse(url);
        });
      },
    });

    expect(seen).toEqual([400, 400, 400, 400, 400]);
    expect(service.forms.map(({ code }) => code)).toEqual(["code-1"]);
  });

  it("ends when the person refuses, and leaves no door open", async () => {
    const { world, file } = await worldAt(await openService());
    let desk = "";
    let showPage: (text: string) => void = () => undefined;
    const page = new Promise<string>((resolve) => (showPage = resolve));
    const failed = signInToCodeAssist(world, {
      show: (url) => {
        const { searchParams } = new URL(url);
        desk = searchParams.get("redirect_uri") ?? "";
        const refusal = `${desk}?error=access_denied&state=${searchParams.get("state")}`;
        void fetch(refusal).then(async (answer) => showPage(await answer.text()));
      },
    });

    await expect(failed).rejects.toThrow("The sign-in was refused (access_denied).");
    expect(await page).toBe("The sign-in was refused. You can close this window.\n");
    await expect(fetch(desk)).rejects.toThrow();
    await expect(stat(file)).rejects.toThrow("ENOENT");
  });

  it("ends if the sign-in is not finished within five minutes", async () => {
    const world = simulatedWorld({ env: (await worldAt(await openService())).world.env });
    const late = world.run(signInToCodeAssist(world, { show: () => undefined }));

    await expect(late).rejects.toThrow("The sign-in was not finished within five minutes. Start it again.");
  });

  it("ends when it is called off", async () => {
    const { world } = await worldAt(await openService());
    const stop = new AbortController();
    const off = signInToCodeAssist(world, { show: () => stop.abort(new Error("another time")), signal: stop.signal });

    await expect(off).rejects.toThrow("another time");
  });

  it("needs an OAuth client of one's own", async () => {
    const world = simulatedWorld();
    const how =
      "Set PARLEY_GOOGLE_OAUTH_CLIENT_ID and PARLEY_GOOGLE_OAUTH_CLIENT_SECRET to an OAuth client of your own (type: desktop app), then sign in.";

    expect(await findCredentials(codeAssist, world)).toEqual({ found: false, how });
    await expect(signInToCodeAssist(world, { show: () => undefined })).rejects.toThrow(how);
  });

  it.each(["nonsense", "ftp://x"])("is refused when its service is moved to %s", async (url) => {
    const env = { PARLEY_GOOGLE_OAUTH_CLIENT_ID: "c", PARLEY_GOOGLE_OAUTH_BASE_URL: url };
    await expect(signInToCodeAssist(simulatedWorld({ env }), { show: () => undefined })).rejects.toThrow(
      "PARLEY_GOOGLE_OAUTH_BASE_URL is no web address. It should begin with https:// or http://.",
    );
  });
});

describe("a sign-in", () => {
  const signedIn = async (): Promise<{ service: Service; world: World; file: string }> => {
    const service = await openService();
    const place = await worldAt(service);
    await signInToCodeAssist(place.world, { show: browse });
    service.forms.length = 0;
    return { service, ...place };
  };
  const expire = async (world: World, file: string): Promise<void> => {
    const stored: Readonly<Record<string, unknown>> = JSON.parse(await readFile(file, "utf8"));
    await world.files.writePrivate(file, JSON.stringify({ ...stored, expires: Date.now() + 60_000 }));
  };

  it("is renewed before its token expires, and the new tokens are kept as privately", async () => {
    const { service, world, file } = await signedIn();
    await expire(world, file);

    expect(await bearerOf(openCredentials(world))).toBe("Bearer access-2");
    expect(service.forms).toEqual([
      {
        path: "/token",
        grant_type: "refresh_token",
        client_id: "client-1",
        client_secret: "canary-secret",
        refresh_token: "refresh-1",
      },
    ]);
    const stored: unknown = JSON.parse(await readFile(file, "utf8"));
    expect(stored).toMatchObject({ client: "client-1", refresh: "refresh-2", access: "access-2" });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it("is renewed after a refusal, although its token looked good", async () => {
    const { service, world } = await signedIn();
    service.answer = () => [200, { access_token: "access-new", expires_in: 3600 }];
    const credentials = openCredentials(world);
    const seen = [await bearerOf(credentials)];
    expect(await renewCredentials(codeAssist, credentials)).toBe(true);
    seen.push(await bearerOf(credentials));

    expect(seen).toEqual(["Bearer access-1", "Bearer access-new"]);
    expect(service.forms.map(({ refresh_token }) => refresh_token)).toEqual(["refresh-1"]);
  });

  it("that was withdrawn says so, in words that hold no token", async () => {
    const { service, world, file } = await signedIn();
    await expire(world, file);
    service.answer = (form) => [400, { error: "invalid_grant", error_description: JSON.stringify(form) }];
    const failed: unknown = await bearerOf(openCredentials(world)).catch((error: unknown) => error);

    expect(failed).toMatchObject({
      failure: { kind: "bad-key", detail: "The sign-in service gives no token (invalid_grant)." },
    });
    expect(String(failed) + JSON.stringify(failed)).not.toMatch(/canary|refresh-1|access-1/);
  });

  it("made with another client must be made again", async () => {
    const { world } = await signedIn();
    const other = realWorld({ ...world.env, PARLEY_GOOGLE_OAUTH_CLIENT_ID: "client-2" });

    expect(await findCredentials(codeAssist, other)).toEqual({
      found: false,
      how: "You signed in with another PARLEY_GOOGLE_OAUTH_CLIENT_ID. Sign in again.",
    });
  });

  it.each(["", "{", "[]", '{"client":"client-1"}'])("in a damaged file counts as none: %j", async (text) => {
    const { world, file } = await signedIn();
    await world.files.writePrivate(file, text);

    await expect(bearerOf(openCredentials(world))).rejects.toMatchObject({
      failure: { kind: "no-key", how: "Sign in with parley login." },
    });
  });

  it("is withdrawn and forgotten when signing out, even if the service is gone", async () => {
    const { service, world, file } = await signedIn();
    await signOutOfCodeAssist(world);
    const again = await signedIn();
    await signOutOfCodeAssist(realWorld({ ...again.world.env, PARLEY_GOOGLE_OAUTH_BASE_URL: "http://127.0.0.1:1" }));

    expect(service.forms).toEqual([{ path: "/revoke", token: "refresh-1" }]);
    await expect(stat(file)).rejects.toThrow("ENOENT");
    await expect(stat(again.file)).rejects.toThrow("ENOENT");
  });
});
