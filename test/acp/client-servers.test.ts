import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { honest, serving, speakOlderProtocol } from "../mcp/http-server.ts";
import { scriptedServer } from "../mcp/with-servers.ts";
import type { Json } from "../support/acp-client.ts";
import { useAcpSessions } from "./session-fixture.ts";

/*
 * MCP servers that a client passes: the same consent as for the servers of a project.
 */

const at = useAcpSessions(["anthropic"]);

describe("MCP servers of the client", () => {
  const server = { name: "scripted", command: process.execPath, args: [scriptedServer], env: [] };

  it("start only with consent, which holds for exactly this program", async () => {
    await at.connect();
    const questions: Json[] = [];
    at.client.handlers["session/request_permission"] = (params) => {
      questions.push(params);
      const isServer = params["toolCall"].title.startsWith("Start");
      return { outcome: { outcome: "selected", optionId: isServer ? "always" : "once" } };
    };
    const first = await at.open({ mcpServers: [server] });
    await at.client.prompt(first, "Hello.");
    await at.client.prompt(first, "call wait_for_servers {}");
    expect(questions.map(({ toolCall }) => toolCall.title as string)).toEqual(["Start the MCP server scripted?"]);
    await at.client.prompt(first, 'call echo {"message":"hi"}');
    expect(at.client.updates.findLast(({ status }) => status !== undefined)).toMatchObject({ status: "completed" });
    const second = await at.open({ mcpServers: [server] });
    await at.client.prompt(second, "Hello.");
    expect(questions.filter(({ toolCall }) => toolCall.title.startsWith("Start"))).toHaveLength(1);
    const third = await at.open({ mcpServers: [{ ...server, args: [scriptedServer, "other"] }] });
    await at.client.prompt(third, "Hello.");
    expect(questions.filter(({ toolCall }) => toolCall.title.startsWith("Start"))).toHaveLength(2);
  });

  it("do not start without it", async () => {
    await at.connect();
    const marker = join(at.project, "started");
    const command = { name: "touch", command: "touch", args: [marker], env: [] };
    at.allow("no");
    const sessionId = await at.open({ mcpServers: [command] });
    await at.client.prompt(sessionId, "Hello.");
    await at.client.prompt(sessionId, "call wait_for_servers {}");
    expect(() => readFileSync(marker)).toThrow("ENOENT");
  });
});

describe.each(["http", "sse"] as const)("an MCP server of the client over %s", (type) => {
  const { answer, onGet } = type === "sse" ? speakOlderProtocol(honest) : { answer: honest, onGet: undefined };
  const header = { name: "X-Team", value: "blue-7f3a" };

  /** Collects the questions about servers, and answers them. */
  const answerQuestions = (optionId: string, onQuestion: () => void = () => undefined): Json[] => {
    const questions: Json[] = [];
    at.client.handlers["session/request_permission"] = ({ toolCall }) => {
      const isServer = toolCall.title.startsWith("Start the MCP server");
      if (isServer) {
        questions.push(toolCall as Json);
        onQuestion();
      }
      return { outcome: { outcome: "selected", optionId: isServer ? optionId : "once" } };
    };
    return questions;
  };

  it("is reached after consent only, with its headers, and the question shows the address but no value", async () => {
    await serving(
      answer,
      async ({ url, heard }) => {
        await at.connect();
        const heardAtQuestion: number[] = [];
        const questions = answerQuestions("once", () => heardAtQuestion.push(heard.length));
        const sessionId = await at.open({ mcpServers: [{ type, name: "web", url, headers: [header] }] });
        await at.client.prompt(sessionId, "call wait_for_servers {}");
        await at.client.prompt(sessionId, "call echo {}");
        expect(heardAtQuestion).toEqual([0]);
        expect(questions.map(({ title }) => title as string)).toEqual(["Start the MCP server web?"]);
        expect(questions[0]?.["content"][0].content.text).toContain(`${url}\nwith headers X-Team`);
        expect(JSON.stringify(at.client.messages.filter(({ from }) => from === "agent"))).not.toContain(header.value);
        expect(new Set(heard.map(({ headers }) => headers["x-team"]))).toEqual(new Set([header.value]));
        const last = at.client.updates.findLast(({ status }) => status !== undefined);
        expect(last).toMatchObject({ status: "completed", content: [{ content: { text: "over http" } }] });
      },
      onGet,
    );
  });

  it("is not asked about again once it is always allowed, but with another address or header", async () => {
    await serving(
      answer,
      async ({ url }) => {
        await at.connect();
        const questions = answerQuestions("always");
        const server = { type, name: "web", url, headers: [header] };
        const start = async (changes: object): Promise<void> => {
          const sessionId = await at.open({ mcpServers: [{ ...server, ...changes }] });
          await at.client.prompt(sessionId, "Hello.");
        };
        await start({});
        await start({});
        expect(questions).toHaveLength(1);
        await start({ url: `${url}?other` });
        await start({ headers: [{ ...header, value: "another" }] });
        expect(questions).toHaveLength(3);
      },
      onGet,
    );
  });

  it("is never contacted where it is declined", async () => {
    await serving(
      answer,
      async ({ url, heard }) => {
        await at.connect();
        answerQuestions("no");
        const sessionId = await at.open({ mcpServers: [{ type, name: "web", url, headers: [] }] });
        await at.client.prompt(sessionId, "call wait_for_servers {}");
        await at.client.prompt(sessionId, "call echo {}");
        expect(heard).toEqual([]);
      },
      onGet,
    );
  });
});

describe("a list of MCP servers that is wrong", () => {
  it.each([
    [{}, "mcpServers must be a list."],
    [[{ command: "x" }], "Every MCP server needs a name."],
    [[{ name: "x", type: "carrier-pigeon" }], "Unknown type of MCP server x."],
  ])("%j is refused", async (mcpServers, message) => {
    await at.connect();
    const error = await at.open({ mcpServers }).catch((e: unknown) => e);
    expect(error).toMatchObject({ code: -32602, message });
  });
});
