import { describe, expect, it } from "vitest";
import { scriptedServer } from "../mcp/with-servers.ts";
import type { Json } from "../support/acp-client.ts";
import { useAcpSessions } from "./session-fixture.ts";

/*
 * Questions of MCP servers reach the person in an editor that can show them, and no other.
 */

const at = useAcpSessions(["anthropic"]);

const server = { name: "parrot", command: process.execPath, args: [scriptedServer, "asks"], env: [] };

const form = {
  message: "Who are you?",
  requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
};

const address = { mode: "url", message: "Please sign in.", url: "https://pirates.example/login", elicitationId: "1" };

/** Lets the server ask, and returns its answer. */
const letAsk = async (method: string, params: object): Promise<Json> => {
  const sessionId = await at.open({ mcpServers: [server] });
  await at.client.prompt(sessionId, "call wait_for_servers {}");
  await at.client.prompt(sessionId, `call echo ${JSON.stringify({ method, params })}`);
  const done = at.client.updates.findLast(({ status }) => status === "completed");
  return JSON.parse(done?.["content"][0].content.text as string) as Json;
};

/** Allows everything, and collects the titles and texts of the questions. */
const allowAll = (): (readonly [string, string])[] => {
  const asked: (readonly [string, string])[] = [];
  at.client.handlers["session/request_permission"] = ({ toolCall, options }) => {
    asked.push([toolCall.title as string, toolCall.content[0].content.text as string]);
    const allow = (options as readonly Json[]).find(({ kind }) => kind === "allow_once");
    return { outcome: { outcome: "selected", optionId: allow?.["optionId"] } };
  };
  return asked;
};

describe("an MCP server", () => {
  it.each([
    [
      { action: "accept", content: { name: "Ada" } },
      { action: "accept", content: { name: "Ada" } },
    ],
    [{ action: "decline" }, { action: "decline" }],
    [{ action: "shrug" }, { action: "cancel" }],
  ])("that asks with a form gets %j as %j", async (answer, received) => {
    await at.connect({ elicitation: { form: {} } });
    allowAll();
    const forms: Json[] = [];
    at.client.handlers["elicitation/create"] = (params) => {
      forms.push(params);
      return answer;
    };
    expect(await letAsk("elicitation/create", form)).toEqual(received);
    expect(forms).toMatchObject([
      { mode: "form", message: "The MCP server parrot asks: Who are you?", requestedSchema: form.requestedSchema },
    ]);
  });

  it("that wants a page opened gets the answer of a client that can open one", async () => {
    await at.connect({ elicitation: { url: {} } });
    allowAll();
    const pages: Json[] = [];
    at.client.handlers["elicitation/create"] = (params) => {
      pages.push(params);
      return { action: "accept" };
    };
    expect(await letAsk("elicitation/create", address)).toEqual({ action: "accept" });
    expect(pages).toMatchObject([
      { mode: "url", message: "The MCP server parrot asks: Please sign in.", url: "https://pirates.example/login" },
    ]);
  });

  it("learns that a client without forms cannot ask", async () => {
    await at.connect();
    allowAll();
    expect(await letAsk("elicitation/create", form)).toEqual({ code: -32601, message: "Method not found" });
    expect(at.client.messages.filter(({ message }) => message["method"] === "elicitation/create")).toEqual([]);
  });

  it("that wants the model asks the person first, who sees all of the request", async () => {
    await at.connect();
    const asked = allowAll();
    const messages = [{ role: "user", content: { type: "text", text: "Name a ship." } }];
    const answer = await letAsk("sampling/createMessage", { messages, maxTokens: 50 });
    expect(answer).toMatchObject({ role: "assistant", content: { text: "You said: Name a ship." } });
    const question = asked.find(([title]) => title === "Let the MCP server parrot ask your model?");
    expect(question?.[1]).toContain("Name a ship.");
  });
});
