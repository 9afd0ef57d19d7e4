import { describe, expect, it } from "vitest";
import { readServerConfigs, formatEndpoint, type McpServerConfig } from "./read-servers.ts";

const env = { HOME: "/home/someone", TOKEN: "t0ken-$HOME", EMPTY: "" };

const read = (given: unknown, from: McpServerConfig["source"] = "person"): ReturnType<typeof readServerConfigs> =>
  readServerConfigs(given, { from, env });

const one = (given: unknown): Omit<McpServerConfig, "digest"> | readonly string[] => {
  const { servers, problems } = read({ s: given });
  const [server] = servers;
  if (server === undefined) return problems;
  const { digest: _, ...rest } = server;
  return rest;
};

const usual = { name: "s", source: "person", timeout: 600_000, trust: false, excludeTools: [] };

describe("a configured server", () => {
  it.each<[string, unknown, unknown]>([
    [
      "a program",
      { command: "node", args: ["a.js", "--x"], env: { A: "1", B: 2, C: true }, cwd: "sub" },
      {
        ...usual,
        endpoint: {
          type: "stdio",
          command: "node",
          args: ["a.js", "--x"],
          env: { A: "1", B: "2", C: "true" },
          cwd: "sub",
        },
      },
    ],
    [
      "an address that speaks streamable HTTP",
      { httpUrl: "https://a.test/mcp", headers: { authorization: "Bearer x" } },
      { ...usual, endpoint: { type: "http", url: "https://a.test/mcp", headers: { authorization: "Bearer x" } } },
    ],
    [
      "the same as others write it",
      { type: "http", url: "https://a.test/mcp" },
      { ...usual, endpoint: { type: "http", url: "https://a.test/mcp", headers: {} } },
    ],
    [
      "the same in yet other words",
      { type: "streamable-http", url: "https://a.test/mcp" },
      { ...usual, endpoint: { type: "http", url: "https://a.test/mcp", headers: {} } },
    ],
    [
      "an address with server-sent events",
      { type: "sse", url: "http://a.test/" },
      { ...usual, endpoint: { type: "sse", url: "http://a.test/", headers: {} } },
    ],
    [
      "an address that does not say",
      { url: "http://a.test/" },
      { ...usual, endpoint: { type: "web", url: "http://a.test/", headers: {} } },
    ],
    [
      "how long, how far, and which tools",
      { command: "x", timeout: 5000, trust: true, includeTools: ["a"], excludeTools: ["b"] },
      {
        ...usual,
        timeout: 5000,
        trust: true,
        includeTools: ["a"],
        excludeTools: ["b"],
        endpoint: { type: "stdio", command: "x", args: [], env: {} },
      },
    ],
    ["nothing to start or reach", {}, ["mcpServers.s: a server needs either a command, or a url or httpUrl."]],
    [
      "both",
      { command: "x", url: "http://a.test/" },
      ["mcpServers.s: a server needs either a command, or a url or httpUrl."],
    ],
    ["no object", "node a.js", ["mcpServers.s must be an object."]],
    ["an odd address", { url: "file:///etc/passwd" }, ["mcpServers.s.url must be an http or https URL."]],
    [
      "wrong kinds",
      { command: 7, args: "a", timeout: -1, trust: "yes" },
      [
        "mcpServers.s.command must be a string.",
        "mcpServers.s.args must be a list of strings.",
        "mcpServers.s.timeout must be a number of milliseconds greater than 0.",
        "mcpServers.s.trust must be true or false.",
      ],
    ],
    [
      "a variable that is not set",
      { command: "x", args: ["a", "${NOWHERE}"] },
      ["mcpServers.s.args[1] names the variable NOWHERE, which is not set."],
    ],
  ])("is read: %s", (_, given, expected) => {
    expect(one(given)).toEqual(expected);
  });

  it("has its variables expanded once, everywhere, from the user's environment", () => {
    const given = {
      command: "$HOME/bin/x",
      args: ["${TOKEN}", "${NOWHERE:-else}", "$NOWHERE", "${EMPTY}", "$1", ""],
      env: { T: "a ${TOKEN} b", E: "" },
      cwd: "${HOME}/w",
    };
    expect(one(given)).toEqual({
      ...usual,
      endpoint: {
        type: "stdio",
        command: "/home/someone/bin/x",
        args: ["t0ken-$HOME", "else", "$NOWHERE", "", "$1", ""],
        env: { T: "a t0ken-$HOME b", E: "" },
        cwd: "/home/someone/w",
      },
    });
    expect(one({ httpUrl: "https://a.test/", headers: { x: "Bearer $TOKEN" } })).toMatchObject({
      endpoint: { headers: { x: "Bearer t0ken-$HOME" } },
    });
  });

  it("is not affected by invalid neighbours", () => {
    const { servers, problems } = read({ good: { command: "x" }, bad: 7, "": { command: "x" } });
    expect([servers.map(({ name }) => name), problems]).toEqual([
      ["good"],
      ["mcpServers.bad must be an object.", "mcpServers.: a server needs a name of at most 100 characters."],
    ]);
  });

  it("has a sampling policy, and only the user's own settings may allow it without asking", () => {
    const given = Object.fromEntries(
      ["ask", "allow", "refuse"].map((sampling) => [sampling, { command: "x", sampling }]),
    );
    const of = (from: McpServerConfig["source"]): unknown => {
      const { servers, problems } = read(given, from);
      return [servers.map(({ sampling }) => sampling), problems];
    };
    expect([of("person"), of("line"), of("project"), read({ s: { command: "x", sampling: true } })]).toEqual([
      [["ask", "allow", "refuse"], []],
      [["ask", "allow", "refuse"], []],
      [
        ["ask", undefined, "refuse"],
        ["mcpServers.allow.sampling has no effect: only your own settings can allow sampling without asking."],
      ],
      { servers: [], problems: ["mcpServers.s.sampling must be ask, allow or refuse."] },
    ]);
  });

  it("of a project is never trusted", () => {
    const { servers, problems } = read({ s: { command: "x", trust: true } }, "project");
    expect([servers[0]?.trust, problems]).toEqual([
      false,
      ["mcpServers.s.trust has no effect: only your own settings can trust a server."],
    ]);
  });

  it("has another digest as soon as a byte of its command or URL changes", () => {
    const base = { command: "node", args: ["a.js", "b"], env: { A: "1" }, cwd: "w" };
    const variants = [
      base,
      { ...base, command: "node " },
      { ...base, args: ["a.js b"] },
      { ...base, args: ["a.js", "b", ""] },
      { ...base, env: { A: "2" } },
      { ...base, env: { A: "1", B: "" } },
      { ...base, cwd: "w2" },
      { url: "https://a.test/" },
      { url: "https://a.test/?" },
      { httpUrl: "https://a.test/" },
      { url: "https://a.test/", headers: { x: "1" } },
    ];
    const digests = variants.map((variant) => read({ s: variant }).servers[0]?.digest);
    expect(new Set(digests).size).toBe(variants.length);
    expect(read({ other: base }).servers[0]?.digest).not.toBe(digests[0]);
    expect(read({ s: { ...base, timeout: 5, trust: true } }).servers[0]?.digest).toBe(digests[0]);
  });

  it("is shown whole, with invisible characters visible", () => {
    const padded = read({ s: { command: "sh", args: ["-c", `echo ok${" ".repeat(500)}; touch x`, "\u001b[2J"] } });
    expect(formatEndpoint(padded.servers[0]!.endpoint)).toBe("sh -c 'echo ok ⟨500 spaces⟩ ; touch x' '␛[2J'");
  });
});
