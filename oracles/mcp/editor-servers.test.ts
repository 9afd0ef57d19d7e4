import { describe, expect, it, onTestFinished } from "vitest";
import { useAcpSessions } from "../../test/acp/session-fixture.ts";
import { serveEverything } from "./everything-server.ts";

/*
 * The official MCP reference server, passed by an editor as it does so: over HTTP and over server-sent events.
 */

const at = useAcpSessions(["anthropic"]);

describe("the everything server of an editor", () => {
  it.each([
    ["http", "streamableHttp"],
    ["sse", "sse"],
  ] as const)("over %s answers calls with text and images after consent", async (type, transport) => {
    const { url, stop } = await serveEverything(transport);
    onTestFinished(stop);
    await at.connect();
    const asked: string[] = [];
    at.client.handlers["session/request_permission"] = ({ toolCall }) => {
      asked.push(toolCall.title as string);
      return { outcome: { outcome: "selected", optionId: "once" } };
    };
    const sessionId = await at.open({ mcpServers: [{ type, name: "every", url, headers: [] }] });
    await at.client.prompt(sessionId, "call wait_for_servers {}");
    await at.client.prompt(sessionId, 'call echo {"message":"hi"}');
    await at.client.prompt(sessionId, "call get-tiny-image {}");
    const done = at.client.updates.filter(({ status }) => status === "completed").map(({ content }) => content);
    expect(done.at(-2)).toMatchObject([{ content: { type: "text", text: "Echo: hi" } }]);
    expect(JSON.stringify(done.at(-1))).toContain('"type":"image"');
    expect(asked[0]).toBe("Start the MCP server every?");
  });
});
