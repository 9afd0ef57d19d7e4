import ipaddr from "ipaddr.js";
import { describe, expect, it } from "vitest";
import { nonPublicReason } from "./public-address.ts";
import { judgeUrl } from "./judge-url.ts";
import { createRedactor } from "../secrets/redact.ts";
import { fc } from "../../../test/support/fast-check.ts";

const secret = "canary-7f3a9b2c";
const redactor = createRedactor({ secrets: [secret] });
const decide = (url: string): string => judgeUrl(url, { redactor }).decision;

describe("a URL that is not on the public internet", () => {
  it.each([
    "http://localhost/",
    "http://LOCALHOST./",
    "http://app.localhost:3000/",
    "http://localhost.localdomain/",
    "http://%6c%6f%63alhost/",
    "http://loc\u00adalhost/",
    "http://ｌｏｃａｌｈｏｓｔ/",
    "http://0/",
    "http://0.0.0.0:8080/",
    "http://127.1/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://017700000001/",
    "http://127.0.0.1./",
    "http://①②⑦.⓪.⓪.①/",
    "http://127。0。0。1/",
    "http://127｡0｡0｡1/",
    "http://[::1]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::]/",
    "http://[::127.0.0.1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[::ffff:0:127.0.0.1]/",
    "http://[64:ff9b::127.0.0.1]/",
    "http://[64:ff9b::a00:1]/",
    "http://[64:ff9b:1::1]/",
    "http://[2002:7f00:1::]/",
    "http://[2001::1]/",
    "http://[fe80::1]/",
    "http://[fec0::1]/",
    "http://[fd00:ec2::254]/",
    "http://[100::1]/",
    "http://[2001:db8::1]/",
    "http://[3fff::1]/",
    "http://[ff02::1]/",
    "http://[2606:4700::5efe:10.0.0.1]/",
    "http://[2606:4700::200:5efe:10.0.0.1]/",
    "http://169.254.169.254/latest/meta-data/",
    "http://100.100.100.200/",
    "http://168.63.129.16/",
    "http://192.0.0.192/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://198.18.0.1/",
    "http://192.88.99.1/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://203.0.113.9/",
    "http://metadata.google.internal/computeMetadata/v1/",
    "http://metadata/",
    "http://metadata.azure.com/",
    "http://router/",
    "http://printer.local/",
    "http://nas.lan/",
    "http://api.default.svc/",
    "http://host.docker.internal:2375/",
    "http://evil.test%00.allowed.test/",
    "socks5://evil.test\u0000.allowed.test",
    "http://a..b.test/",
    "http://*.test/",
    "http://a$b.test/",
    "http://127.0.0.1../",
    `http://${"a".repeat(64)}.test/`,
    "file:///etc/passwd",
    "data:text/html,x",
    "ftp://127.0.0.1/",
    "javascript:alert(1)",
    "blob:http://x/",
    "view-source:http://x/",
    "http:127.0.0.1",
    "gopher://public.test/",
    "//public.test/",
    "not an address",
    "",
  ])("is denied: %j", (url) => {
    expect(decide(url)).toBe("deny");
  });
});

describe("a suspicious URL", () => {
  it.each([
    ["http://evil.test\\@allowed.test/", "evil.test"],
    ["http://allowed.test@evil.test/", "evil.test"],
    ["http://allowed.test:80@evil.test/", "evil.test"],
    ["http://allowed.test%2eevil.test/", "allowed.test.evil.test"],
    ["http://exa\tmple.test/", "example.test"],
    ["http://exa\nmple.test/", "example.test"],
    ["http:example.test/", "example.test"],
    ["http:///example.test/", "example.test"],
    ["http://ｅxample.test/", "example.test"],
    ["http://\u0430llowed.test/", "xn--llowed-2nf.test"],
    ["http://xn--llowed-2nf.test/", "xn--llowed-2nf.test"],
    ["http://public.test:25/", "public.test"],
    ["https://public.test:8443/", "public.test"],
    [`https://trusted-host.test/user-writable/path?d=${secret}`, "trusted-host.test"],
    [`https://trusted-host.test/${secret}/x`, "trusted-host.test"],
    [`https://trusted-host.test/#${secret}`, "trusted-host.test"],
    [`https://canary-7f3a9b2c.evil.test/`, "canary-7f3a9b2c.evil.test"],
    [`https://trusted-host.test/?d=${Buffer.from(`x=${secret};`).toString("base64url")}`, "trusted-host.test"],
    [`https://trusted-host.test/?d=${Buffer.from(secret).toString("hex")}`, "trusted-host.test"],
    ["https://public.test/?q=DB_PASSWORD%3Dhunter2-hunter2%0AX%3D1", "public.test"],
    ["https://public.test/?q=sk-proj-abcdef1234567890ABCD", "public.test"],
    [
      `https://${"0123456789abcdef".repeat(3).slice(0, 40)}.evil.test/`,
      `0123456789abcdef0123456789abcdef01234567.evil.test`,
    ],
    ["https://mzxw6ytboi2gk3tt.onswg4tfoqqgk3td.evil.test/", "mzxw6ytboi2gk3tt.onswg4tfoqqgk3td.evil.test"],
    [`https://public.test/?d=${"Zm9vYmFy1234".repeat(4)}`, "public.test"],
  ])("needs approval, and its real host is shown: %j", (url, host) => {
    const { decision, host: found } = judgeUrl(url, { redactor });
    expect({ decision, found }).toEqual({ decision: "ask", found: host });
  });

  it.each([
    "https://public.test/",
    "http://public.test:80/",
    "https://public.test:443/docs/index.html?page=2#top",
    "https://allowed.test.evil.test/",
    "https://evilallowed.test/",
    "HTTPS://Public.TEST./",
    "https://8.8.8.8/",
    "https://[2606:4700:4700::1111]/",
    "https://github.com/o/r/blob/0123456789abcdef0123456789abcdef01234567/src/a.ts",
    "https://en.wikipedia.org/wiki/Pneumonoultramicroscopicsilicovolcanoconiosis",
    "https://search.test/?q=how+to+write+a+very+long+question+in+a+query+string+for+a+search",
  ])("is not this: %s", (url) => {
    expect(judgeUrl(url, { redactor })).toMatchObject({ decision: "allow", reason: "" });
  });
});

describe("the displayed URL", () => {
  it("is the parsed form, its host in ASCII, without passwords and secrets", () => {
    expect(judgeUrl(`https://u:pass-word-1@\u0430llowed.test/a b?q=${secret}`, { redactor })).toEqual({
      decision: "ask",
      reason:
        "The URL contains what looks like a secret. The URL contains a user name or password, which is not sent. The host name contains letters that look like others: it is xn--llowed-2nf.test. The URL is spelled to look like another: its host is xn--llowed-2nf.test.",
      host: "xn--llowed-2nf.test",
      url: "https://u:[secret]@xn--llowed-2nf.test/a%20b?q=[secret]",
    });
  });

  it("has no control characters even if it is not a URL", () => {
    expect(judgeUrl("\u001b[2Jhello\n")).toEqual({
      decision: "deny",
      reason: "Not a valid URL.",
      host: "",
      url: "␛[2Jhello␊",
    });
  });
});

/** How another library sees an address; where it is laxer than we are, the ranges are named. */
const isPublicElsewhere = (text: string): boolean => {
  const address = ipaddr.parse(text);
  if (address.kind() === "ipv4") return address.range() === "unicast" && text !== "168.63.129.16";
  const six = address as ipaddr.IPv6;
  if (six.match(ipaddr.parseCIDR("64:ff9b::/96") as [ipaddr.IPv6, number]))
    return isPublicElsewhere(six.toByteArray().slice(12).join("."));
  return six.range() === "unicast" && six.match(ipaddr.parseCIDR("2000::/3") as [ipaddr.IPv6, number]);
};

const byte = fc.integer({ min: 0, max: 255 });
const special = fc.constantFrom(0, 10, 100, 127, 168, 169, 172, 192, 198, 203, 224, 240, 255);
const four = fc.tuple(
  fc.oneof(byte, special),
  fc.oneof(byte, fc.constantFrom(0, 16, 18, 64, 88, 168, 254)),
  byte,
  byte,
);
const group = fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.constantFrom(0, 0xffff));
const start = fc.constantFrom(
  0,
  0x64,
  0x100,
  0x2001,
  0x2002,
  0x2606,
  0x2a00,
  0x3fff,
  0x5f00,
  0xfc00,
  0xfe80,
  0xfec0,
  0xff02,
);
const six = fc.tuple(
  start,
  fc.oneof(group, fc.constantFrom(0xdb8, 0xff9b, 2, 0x20)),
  group,
  group,
  group,
  group,
  group,
  group,
);

/** One number in one of the bases people and attackers write. */
const spelled = (value: number, base: number): string =>
  base === 16 ? `0x${value.toString(16)}` : base === 8 ? `0${value.toString(8)}` : String(value);

describe("every address", () => {
  it("of IPv4 is judged equally in every spelling, and as by another library", () => {
    const base = fc.constantFrom(10, 16, 8);
    fc.assert(
      fc.property(four, fc.tuple(base, base, base, base), fc.integer({ min: 1, max: 4 }), (bytes, bases, parts) => {
        const tail = bytes.slice(parts - 1).reduce((sum, part) => sum * 256 + part, 0);
        const numbers = [...bytes.slice(0, parts - 1), tail];
        const text = numbers.map((value, at) => spelled(value, bases[at] ?? 10)).join(".");
        const expected = isPublicElsewhere(bytes.join(".")) ? ["allow", "ask"] : ["deny"];
        expect(expected).toContain(decide(`http://${text}/`));
      }),
      { numRuns: 5000 },
    );
  });

  it("of IPv6 is public only if another library agrees", () => {
    fc.assert(
      fc.property(six, (groups) => {
        const text = groups.map((value) => value.toString(16)).join(":");
        if (nonPublicReason(text) === undefined) expect(isPublicElsewhere(text)).toBe(true);
        else expect(isPublicElsewhere(text) && !/:(0|200):5efe:/.test(text)).toBe(false);
      }),
      { numRuns: 5000 },
    );
  });

  it.each(["", "fe80::1%eth0", "1.2.3", "1.2.3.4.5", "256.1.1.1", "::g", "localhost"])(
    "is an address: %j is none",
    (text) => {
      expect(nonPublicReason(text)).toBe("not an address");
    },
  );
});
