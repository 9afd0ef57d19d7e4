import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { isObject } from "../../src/conversation/json.ts";
import type { ModelFunction } from "../../src/sim/family.ts";
import { ensureBuilt } from "../built.ts";
import { openProgramStage, type ProgramResult, type ProgramStage } from "../support/agent-program.ts";

const speak: ModelFunction = ({ turns }) => {
  const prompt = turns.findLast((turn) => turn.by === "user");
  const hasResults = turns.some((turn) => turn.by === "tools");
  return prompt?.by === "user" && prompt.text.includes("Open it") && !hasResults
    ? { parts: [{ type: "call", tool: "read_file", input: { path: "dot.png" } }] }
    : { parts: [{ type: "say", text: "I see." }] };
};

let stage: ProgramStage;
beforeAll(async () => {
  ensureBuilt();
  stage = await openProgramStage(["local"], { script: speak });
});
afterEach(() => {
  stage.log.splice(0);
  describeModels({});
});
afterAll(() => stage.close());

/** A server's answers about its models besides Chat Completions, by method and path. */
type ServerAnswers = { readonly [question: string]: (body: string) => unknown };

const ollama = (...vision: readonly string[]): ServerAnswers => ({
  "POST /api/show": (body) => {
    const { model } = JSON.parse(body) as { readonly model: string };
    return {
      details: { family: "x" },
      capabilities: ["completion", "tools", ...(vision.includes(model) ? ["vision"] : [])],
    };
  },
});
const lmStudio = (model: string, type: string): ServerAnswers => ({
  [`GET /api/v0/models/${model}`]: () => ({ id: model, object: "model", type, state: "loaded" }),
});
const llamaServer = (vision: boolean): ServerAnswers => ({
  "GET /props": () => ({ total_slots: 1, modalities: { vision, audio: false } }),
  // llama-server serves Ollama's path too.
  "POST /api/show": () => ({ capabilities: ["completion"] }),
});

/** A server that answers some requests itself and forwards Chat Completions to the simulator. */
const serverThat = async (
  says: ServerAnswers,
): Promise<{ readonly env: Record<string, string>; readonly queries: string[] }> => {
  const queries: string[] = [];
  const behind = stage.env["PARLEY_LOCAL_BASE_URL"] ?? "";
  const server = createServer((request, response) => {
    void (async () => {
      const { method = "", url = "" } = request;
      const body = await textOf(request);
      if (url.startsWith("/v1/")) {
        const answer = await fetch(behind + url.slice(3), {
          method,
          headers: { "content-type": "application/json" },
          ...(method === "POST" ? { body } : {}),
        });
        response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" });
        return response.end(Buffer.from(await answer.arrayBuffer()));
      }
      queries.push(`${method} ${url}`);
      const say = says[`${method} ${url}`];
      response.writeHead(say === undefined ? 404 : 200, { "content-type": "application/json" });
      return response.end(say === undefined ? "404 page not found" : JSON.stringify(say(body)));
    })();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  return { queries, env: { PARLEY_LOCAL_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` } };
};

const textOf = async (request: IncomingMessage): Promise<string> => {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
};

const describeModels = (models: object): void => {
  mkdirSync(join(stage.home, ".parley"), { recursive: true });
  writeFileSync(join(stage.home, ".parley", "settings.json"), JSON.stringify({ models }));
};

const run = async (
  model: string,
  words: string,
  env: Record<string, string>,
  ...more: string[]
): Promise<ProgramResult> => {
  const ran = await stage.run(["-m", `local/${model}`, "-p", words, "--approval-mode", "yolo", ...more], { env });
  expect([ran.code, ran.err]).toEqual([0, expect.any(String)]);
  return ran;
};

/** The messages of every request so far; none was refused. */
const sent = (): readonly (readonly unknown[])[] => {
  expect(stage.log.map(({ entry }) => entry.verdict)).not.toContain("refused");
  return stage.log.flatMap(({ entry: { body } }) =>
    isObject(body) && Array.isArray(body["messages"]) ? [body["messages"] as readonly unknown[]] : [],
  );
};
const picture = '"image_url":{"url":"data:image/png;base64,';
const isShown = (messages: readonly unknown[] | undefined): boolean => JSON.stringify(messages).includes(picture);
const isNamed = (messages: readonly unknown[] | undefined): boolean =>
  /does not take image here/.test(JSON.stringify(messages));

const look = "What is on @dot.png?";

describe("an image for a local model", () => {
  it.each([
    ["Ollama", "mistral-small3.2", ollama("mistral-small3.2")],
    ["LM Studio", "mistral-small3.2", lmStudio("mistral-small3.2", "vlm")],
    ["llama.cpp", "mistral-small3.2", llamaServer(true)],
  ])("is sent if %s reports that the model accepts images, whatever its name", async (_, model, says) => {
    const { env, queries } = await serverThat(says);
    await run(model, look, env);
    expect(sent().map(isShown)).toEqual([true]);
    expect(Object.keys(says)).toContain(queries.at(-1));
  });

  it.each([
    ["Ollama", "gemma3:1b", ollama()],
    ["LM Studio", "gemma3:1b", lmStudio("gemma3%3A1b", "llm")],
    ["llama.cpp", "gemma3:1b", llamaServer(false)],
  ])(
    "is replaced by text if %s reports that the model does not accept images, whatever its name",
    async (_, model, says) => {
      const { env } = await serverThat(says);
      await run(model, look, env);
      expect(sent().map((messages) => [isShown(messages), isNamed(messages)])).toEqual([[false, true]]);
    },
  );

  it("follows the results if a tool returns it, and the server is asked once", async () => {
    const { env, queries } = await serverThat(ollama("mistral-small3.2"));
    await run("mistral-small3.2", "Open it", env);
    await run("mistral-small3.2", "And now?", env, "-c");
    expect(sent().map(isShown)).toEqual([false, true, true]);
    expect(queries.filter((query) => query === "POST /api/show")).toHaveLength(1);
  });

  it("is sent by the name of the model if the server does not report it", async () => {
    const { env } = await serverThat({});
    await run("gemma3", look, env);
    await run("mistral-small3.2", look, env);
    expect(sent().map(isShown)).toEqual([true, false]);
  });

  it("is sent or replaced as settings say, and no server is asked", async () => {
    const { env, queries } = await serverThat(ollama());
    describeModels({ "local/mistral-small3.2": { input: ["text", "image"] }, "local/gemma3": { input: ["text"] } });
    await run("mistral-small3.2", look, env);
    await run("gemma3", look, env);
    expect(sent().map((messages) => [isShown(messages), isNamed(messages)])).toEqual([
      [true, false],
      [false, true],
    ]);
    expect(queries).toEqual([]);
  });

  it("that is not there causes no query to the server", async () => {
    const { env, queries } = await serverThat(ollama("qwen3"));
    await run("qwen3", "Hello.", env);
    expect([sent().length, queries]).toEqual([1, []]);
  });
});

describe("a resumed session with an image", () => {
  it.each([
    ["says it no more", ollama("mistral-small3.2"), {}],
    ["says it only now", {}, ollama("mistral-small3.2")],
  ])("begins its requests with the same messages when the server %s", async (_, before, after) => {
    await run("mistral-small3.2", look, (await serverThat(before)).env);
    await run("mistral-small3.2", "And now?", (await serverThat(after)).env, "-c");
    const [first = [], second = []] = sent();
    expect(second.slice(0, first.length)).toEqual(first);
    expect(isShown(first)).toBe("POST /api/show" in before);
  });

  it("is rendered as it was sent, and the switch check agrees", async () => {
    await run("mistral-small3.2", look, (await serverThat(ollama("mistral-small3.2"))).env);
    const listed = JSON.parse((await stage.run(["sessions", "list", "--json"])).out) as {
      readonly sessions: readonly { readonly id: string }[];
    };
    const id = listed.sessions[0]?.id ?? "";
    const rendered = await stage.run(["render", id, "--turn", "1", "--explain"]);
    expect(JSON.parse(rendered.err)).toMatchObject({ request: { asSent: true } });
    expect(rendered.out.replaceAll(/\s/g, "")).toContain(picture);
    const stubbed = async (model: string): Promise<number> => {
      const { out } = await stage.run(["switch-check", model, "--session", id, "--json"]);
      return (JSON.parse(out) as { readonly stubbed: readonly unknown[] }).stubbed.length;
    };
    expect([await stubbed("local/mistral-small3.2"), await stubbed("local/qwen3")]).toEqual([0, 1]);
    describeModels({ "local/mistral-small3.2": { input: ["text"] }, "local/qwen3": { input: ["text", "image"] } });
    expect([await stubbed("local/mistral-small3.2"), await stubbed("local/qwen3")]).toEqual([1, 0]);
  });
});
