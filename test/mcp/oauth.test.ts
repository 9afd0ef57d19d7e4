import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { SignInPage } from "../../src/mcp/oauth/browser.ts";
import { deleteSignIn } from "../../src/mcp/oauth/store.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { signIn, withOAuthService, connectAndDescribe, type OAuthServiceOptions } from "./oauth-service.ts";

afterEach(() => vi.restoreAllMocks());

describe("signing in to a server", () => {
  it("stores tokens for that server, readable by the owner alone, until sign-out", async () => {
    await withOAuthService({}, async (place) => {
      expect([await connectAndDescribe(place), await signIn(place), await connectAndDescribe(place)]).toEqual([
        "sign-in",
        "signed in",
        "you",
      ]);
      const folder = join(place.home, "auth");
      const [file = ""] = await readdir(folder);
      expect([(await stat(folder)).mode & 0o777, (await stat(join(folder, file))).mode & 0o777]).toEqual([
        0o700, 0o600,
      ]);
      expect(JSON.parse(await readFile(join(folder, file), "utf8"))).toMatchObject({
        version: 1,
        tokens: { access_token: "access-1" },
      });
      expect(place.asked.map((query) => [query.get("grant_type"), query.get("code"), query.get("resource")])).toEqual([
        ["authorization_code", "code-1", place.url],
      ]);
      await deleteSignIn(realWorld(), place.home, place);
      expect(await connectAndDescribe(place)).toBe("sign-in");
    });
  });

  it("is refreshed without the user", async () => {
    await withOAuthService({}, async (place) => {
      await signIn(place);
      const [file = ""] = await readdir(join(place.home, "auth"));
      const path = join(place.home, "auth", file);
      const kept = await readFile(path, "utf8");
      await realWorld().files.writePrivate(path, kept.replace("access-1", "access-that-ran-out"));
      expect(await connectAndDescribe(place)).toBe("you");
      expect(place.asked.at(-1)?.get("grant_type")).toBe("refresh_token");
      expect(await readFile(path, "utf8")).toContain("access-2");
    });
  });

  it("survives two processes that refresh it at the same time", async () => {
    // The SDK prints that it tries again. The built program has no console calls.
    vi.spyOn(console, "warn").mockReturnValue();
    await withOAuthService({ once: true }, async (place) => {
      await signIn(place);
      const [file = ""] = await readdir(join(place.home, "auth"));
      const path = join(place.home, "auth", file);
      const kept = await readFile(path, "utf8");
      await realWorld().files.writePrivate(path, kept.replace("access-1", "access-that-ran-out"));
      expect(await Promise.all([connectAndDescribe(place), connectAndDescribe(place)])).toEqual(["you", "you"]);
      expect(await connectAndDescribe(place)).toBe("you");
      expect(JSON.parse(await readFile(path, "utf8"))).toHaveProperty("tokens.refresh_token");
    });
  });

  it.each<[string, OAuthServiceOptions, RegExp]>([
    ["a file to open", { authorize: "file:///etc/passwd" }, /file|Invalid|URL/i],
    ["a script to open", { authorize: "javascript:alert(1)" }, /javascript|Invalid|URL/i],
    ["a place in the open", { authorize: "http://elsewhere.test/authorize" }, /http: as the sign-in page/],
    ["another issuer", { issuer: "https://elsewhere.test" }, /[Ii]ssuer/],
  ])("does not start with %s", async (_, twist, words) => {
    await withOAuthService(twist, async (place) => {
      const shown: string[] = [];
      expect(await signIn(place, { show: ({ url }) => void shown.push(url) })).toMatch(words);
      expect(shown).toEqual([]);
    });
  });

  it("rejects a wrong state, and reports a refusal", async () => {
    await withOAuthService({}, async (place) => {
      const answers: number[] = [];
      const refusing = async ({ url }: SignInPage): Promise<void> => {
        const { searchParams } = new URL(url);
        const back = searchParams.get("redirect_uri") ?? "";
        answers.push(
          (await fetch(`${back}?code=stolen&state=wrong`)).status,
          (await fetch(back, { method: "POST" })).status,
          (await fetch(new URL(`/other?code=stolen&state=${searchParams.get("state")}`, back))).status,
        );
        answers.push((await fetch(`${back}?error=access_denied&state=${searchParams.get("state")}`)).status);
      };
      let refused = Promise.resolve();
      const show = (page: SignInPage): void => void (refused = refusing(page));
      expect(await signIn(place, { show })).toBe("The sign-in was refused (access_denied).");
      await refused;
      expect([answers, place.asked]).toEqual([[400, 400, 400, 400], []]);
    });
  });
});
