import { describe, expect, it } from "vitest";
import { isSecretField, isSecretName } from "./names.ts";
import { createRedactor } from "./redact.ts";
import { fc } from "../../../test/support/fast-check.ts";

const canary = "canary/7f3a+9b2c=d1";
const { redact, containsSecret } = createRedactor({
  env: {
    OPENAI_API_KEY: canary,
    SHORT_TOKEN: "abc",
    PWD: "/home/someone/project",
    SSH_KEY_FILE: "/home/someone/.ssh/id",
    DATABASE_URL: "postgres://app:db-pass%2Fword@db.test/app",
    HTTPS_PROXY: "http://bob:hunter2-hunter2@proxy.test:8080",
    SIGNING_KEY: "first line of the key 1\nsecond line of the key 2",
  },
  secrets: ["told-by-hand-123"],
});

/** Keys of no account, in the shapes their makers give them. */
const key = (start: string, length: number): string => start + "a1B2c3D4e5".repeat(12).slice(0, length);

describe("a known secret", () => {
  it.each([
    ["as it is", `key ${canary}!`, "key [secret]!"],
    ["twice", `${canary}${canary}`, "[secret][secret]"],
    ["in an unknown header", `x-strange: ${canary}`, "x-strange: [secret]"],
    ["in a URL", `https://a.test/?x=${encodeURIComponent(canary)}&y=1`, "https://a.test/?x=[secret]&y=1"],
    ["in JSON", JSON.stringify({ x: canary }), '{"x":"[secret]"}'],
    ["in hex", `0x${Buffer.from(canary).toString("hex")}`, "0x[secret]"],
    ["in base64", Buffer.from(canary).toString("base64").replace(/=*$/, ""), "[secret]"],
    ["within base64", Buffer.from(`ab${canary}cd`).toString("base64"), "YWJ[secret]Y2Q="],
    ["of a URL's password", "error for bob and hunter2-hunter2", "error for bob and [secret]"],
    ["of a URL's password, decoded", "it was db-pass/word", "it was [secret]"],
    ["of several lines, one of them", "> second line of the key 2", "> [secret]"],
    ["told by hand", "(told-by-hand-123)", "([secret])"],
  ])("is redacted %s", (_, text, hidden) => {
    expect({ text: redact(text), found: containsSecret(text) }).toEqual({ text: hidden, found: true });
  });

  it("is found in another case", () => {
    expect(containsSecret("canary/7F3A+9B2C=D1")).toBe(true);
  });

  it.each(["abc", "in /home/someone/project", "at /home/someone/.ssh/id", "nothing here"])(
    "is not this: %s",
    (text) => {
      expect({ text: redact(text), found: containsSecret(text) }).toEqual({ text, found: false });
    },
  );
});

describe("what looks like a secret", () => {
  it.each([
    ["OpenAI", key("sk-proj-", 40)],
    ["Anthropic", key("sk-ant-api03-", 60)],
    ["OpenRouter", key("sk-or-v1-", 64)],
    ["Google", key("AIza", 35)],
    ["a Google token", key("ya29.", 60)],
    ["AWS", "AKIAIOSFODNN7EXAMPLE"],
    ["AWS, for a while", "ASIAIOSFODNN7EXAMPLE"],
    ["Bedrock", key("ABSK", 60)],
    ["GitHub", key("ghp_", 36)],
    ["GitHub, fine-grained", key("github_pat_", 60)],
    ["GitLab", key("glpat-", 20)],
    ["Slack", key("xoxb-", 40)],
    ["Groq", key("gsk_", 50)],
    ["xAI", key("xai-", 60)],
    ["Hugging Face", key("hf_", 34)],
    ["npm", key("npm_", 36)],
    ["Stripe", key("sk_live_", 24)],
    ["a JWT", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"],
  ])("of %s is redacted anywhere", (_, secret) => {
    const texts = [secret, `"${secret}"`, `(${secret})`, `key=${secret}\nnext`, `at f (${secret}) in x.ts:1`];
    expect(texts.map((text) => redact(text).includes(secret.slice(-12)))).toEqual(texts.map(() => false));
    expect(redact(`a ${secret} b`)).toBe("a [secret] b");
  });

  it.each([
    ["Authorization: Bearer abcdefgh", "Authorization: Bearer [secret]"],
    ["proxy-authorization: Basic dXNlcjpwYXNz", "proxy-authorization: Basic [secret]"],
    ['{"authorization":"Bearer abcdefgh","x":1}', '{"authorization":"Bearer [secret]","x":1}'],
    ["curl -H 'Authorization: token abcdefgh' x", "curl -H 'Authorization: token [secret]' x"],
    ["bearer abcdefghijklmnop.qrstuvw", "bearer [secret]"],
    ["x-api-key: abcdefgh", "x-api-key: [secret]"],
    ["> X-Goog-Api-Key: abcdefgh\r\n> accept: */*", "> X-Goog-Api-Key: [secret]\r\n> accept: */*"],
    ["curl -H 'x-api-key: abcdefgh' x", "curl -H 'x-api-key: [secret]' x"],
    ["PRIVATE-TOKEN: abcdefgh", "PRIVATE-TOKEN: [secret]"],
    ["api-key=abcdefgh", "api-key=[secret]"],
    ["password: hunter2hunter2", "password: [secret]"],
    ["apiKey = 'abc123def456'", "apiKey = '[secret]'"],
    ["client_secret: a1b2c3d4e5", "client_secret: [secret]"],
    ["Set-Cookie: session=abc; path=/", "Set-Cookie: [secret]"],
    ["GET /v1/models?key=abcdefgh&alt=sse HTTP/1.1", "GET /v1/models?key=[secret]&alt=sse HTTP/1.1"],
    ["https://a.test/cb#access_token=abcdefgh&state=1", "https://a.test/cb#access_token=[secret]&state=1"],
    ["https://s3.test/x?X-Amz-Signature=0123abcd", "https://s3.test/x?X-Amz-Signature=[secret]"],
    ["proxy http://bob:pw@proxy.test:8080/", "proxy http://bob:[secret]@proxy.test:8080/"],
    ["https://x-token-0123456789abcdef@git.test/a", "https://[secret]@git.test/a"],
    ["DB_PASSWORD=swordfish\nPORT=80808080", "DB_PASSWORD=[secret]\nPORT=80808080"],
    ["export GH_TOKEN='swordfish'", "export GH_TOKEN='[secret]'"],
    [
      '{"client_secret": "swordfish", "sort_key": "swordfish"}',
      '{"client_secret": "[secret]", "sort_key": "swordfish"}',
    ],
    [String.raw`"{\"apiKey\":\"swordfish\"}"`, String.raw`"{\"apiKey\":\"[secret]\"}"`],
    [
      "a\n-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIE+/=\n-----END RSA PRIVATE KEY-----\nb",
      "a\n[secret]\nb",
    ],
    [
      String.raw`{"private_key":"-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n"}`,
      String.raw`{"private_key":"[secret]\n"}`,
    ],
    ["-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz", "[secret]"],
    [
      "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: X v1 (y)\n\nabc\n-----END PGP PRIVATE KEY BLOCK-----",
      "[secret]",
    ],
  ])("is redacted: %j", (text, hidden) => {
    expect({ text: redact(text), found: containsSecret(text), again: redact(hidden) }).toEqual({
      text: hidden,
      found: true,
      again: hidden,
    });
  });

  it.each([
    "class='sk-loading-spinner-container-wide'",
    "task-1234567890-abcdefghijkl",
    "const token = nextToken();",
    "password: z.string().min(12)",
    "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
    "commit 0123456789abcdef0123456789abcdef01234567",
    "https://a.test/?page=12345678&monkey=see",
    "TOKEN=$GH_TOKEN_FROM_VAULT",
    '{"key": "ArrowDown-1234"}',
    "http://localhost:8080/path@x",
  ])("is not this: %s", (text) => {
    expect({ text: redact(text), found: containsSecret(text) }).toEqual({ text, found: false });
  });

  it("is redacted idempotently", () => {
    const parts = fc.constantFrom(
      canary,
      "sk-",
      "a1B2",
      "?key=",
      "://",
      "@",
      ":",
      " ",
      '"',
      "TOKEN=",
      "-----BEGIN PRIVATE KEY-----",
      "-----END ",
      "eyJ",
      ".",
      "[secret]",
      "Bearer ",
      "authorization: ",
    );
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 12 }), (pieces) => {
        const once = redact(pieces.join(""));
        expect(once).not.toContain(canary);
        expect(redact(once)).toBe(once);
      }),
      { numRuns: 3000 },
    );
  });
});

describe("names of secrets", () => {
  it.each([
    "OPENAI_API_KEY",
    "GH_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_ACCESS_KEY_ID",
    "PGPASSWORD",
    "MYSQL_PWD",
    "DB_PASS",
    "npm_config__authToken",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "AZURE_STORAGE_CONNECTION_STRING",
    "SENTRY_DSN",
    "SLACK_WEBHOOK_URL",
    "apiKey",
  ])("%s", (name) => {
    expect(isSecretName(name)).toBe(true);
  });

  it.each([
    "PATH",
    "PWD",
    "OLDPWD",
    "HOME",
    "SSH_AUTH_SOCK",
    "TOKENIZERS_PARALLELISM",
    "KEYBOARD",
    "NEXT_PUBLIC_API_KEY",
    "XDG_SESSION_ID",
    "COMPASS",
  ])("not %s", (name) => {
    expect(isSecretName(name)).toBe(false);
  });

  it.each([
    ["api_key", true],
    ["accessToken", true],
    ["client-secret", true],
    ["password", true],
    ["key", false],
    ["primary_key", false],
    ["publicKey", false],
    ["path", false],
  ])("as a field: %s is %s", (name, is) => {
    expect(isSecretField(name)).toBe(is);
  });
});
