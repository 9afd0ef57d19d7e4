import { SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import { textOf, withServers } from "./with-servers.ts";

const oldest = "2024-10-07";

describe("a server that speaks one revision of the protocol", () => {
  it("is used in every revision", async () => {
    expect(SUPPORTED_PROTOCOL_VERSIONS).toContain(oldest);
    const scripted = Object.fromEntries(
      SUPPORTED_PROTOCOL_VERSIONS.map((version) => [version, ["speaks", version] as const]),
    );
    await withServers({ scripted }, async ({ servers, call }) => {
      expect(servers.status().map(({ name, status }) => [name, status.state])).toEqual(
        SUPPORTED_PROTOCOL_VERSIONS.map((version) => [version, "ready"]),
      );
      const first = servers.tools().find(({ server }) => server === oldest)?.tool.name ?? "";
      expect(textOf(await call(first, { message: "hi" }))).toBe("echo: hi");
    });
  });

  it("is rejected with a message for an unknown revision", async () => {
    await withServers({ scripted: { odd: ["speaks", "1999-01-01"] } }, async ({ servers }) => {
      expect(servers.status().map(({ status }) => status)).toEqual([
        { state: "failed", reason: expect.stringContaining("1999-01-01") as string },
      ]);
    });
  });
});
