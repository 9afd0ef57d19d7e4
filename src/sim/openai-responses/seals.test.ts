import { describe, expect, it } from "vitest";
import type { Json } from "../family.ts";
import { asArray, asObject, asText } from "../json.ts";
import {
  type ResponsesTestClient,
  followUp,
  itemsOf,
  loop,
  createClient,
  question,
  tools,
  withThought,
  wordsOnly,
} from "./client.cases.ts";

describe("encrypted reasoning over Responses", () => {
  const verdict = async (
    server: ResponsesTestClient,
    body: Json,
    more?: Parameters<ResponsesTestClient["ask"]>[1],
  ): Promise<unknown> => {
    const reply = await server.ask(body, more);
    const { code, message } = asObject(reply.body["error"]);
    return reply.status === 200 ? 200 : [reply.status, code, message];
  };
  const refused = (name: string, reason: string): unknown => [
    400,
    "invalid_encrypted_content",
    `The encrypted content ${name} could not be verified. Reason: ${reason}`,
  ];
  const unreadable = "Encrypted content could not be decrypted or parsed.";

  it("is refused when changed or truncated", async () => {
    const server = createClient("openai", { script: loop });
    const next = await followUp(server);
    const thought = asObject(itemsOf(next)[1]);
    const seal = asText(thought["encrypted_content"]);
    const changed = `${seal.slice(0, 100)}${seal[100] === "A" ? "B" : "A"}${seal.slice(101)}`;
    const announced = /"response.output_item.added","item":\{"id":"(rs_\w+)".*?"encrypted_content":"([^"]+)"/.exec(
      await createClient("openai", { script: loop }).raw(question),
    );

    const wrapping: unknown = JSON.parse(Buffer.from(seal.slice(7), "base64url").toString());
    const rewrapped = JSON.stringify(asArray(wrapping).with(1, "rs_mine"));
    const moved = { id: "rs_mine", encrypted_content: `gAAAAAB${Buffer.from(rewrapped).toString("base64url")}` };

    expect(await verdict(server, next)).toBe(200);
    expect(await verdict(server, withThought(next, moved))).toEqual(refused("for item rs_mine", unreadable));
    expect(await verdict(server, withThought(next, { encrypted_content: changed }))).toEqual(
      refused(`for item ${asText(thought["id"])}`, unreadable),
    );
    expect(await verdict(server, withThought(next, { encrypted_content: announced?.[2] }))).toEqual(
      refused(`for item ${asText(thought["id"])}`, unreadable),
    );
    expect(await verdict(server, withThought(next, { id: undefined, encrypted_content: "Made up by me" }))).toEqual(
      refused("Made...y me", unreadable),
    );
  });

  it("is bound to its account and item", async () => {
    const server = createClient("openai", { script: loop });
    const next = await followUp(server);
    const id = asText(asObject(itemsOf(next)[1])["id"]);

    expect(await verdict(server, next, { headers: { authorization: "Bearer key-two" } })).toEqual(
      refused(`for item ${id}`, "Encrypted content organization_id did not match the target organization."),
    );
    expect(await verdict(server, withThought(next, { id: "rs_other" }))).toEqual(
      refused("for item rs_other", "Encrypted content item_id did not match the target item id."),
    );
    expect(await verdict(server, withThought(next, { id: undefined }))).toBe(200);
  });

  it("is accepted by models of its generation, and by no other provider", async () => {
    const server = createClient("openai", { script: loop });
    const next = await followUp(server);
    const id = asText(asObject(itemsOf(next)[1])["id"]);

    expect(await verdict(server, { ...next, model: "gpt-5.6-luna" })).toBe(200);
    expect(await verdict(server, { ...next, model: "gpt-5.4" })).toEqual(refused(`for item ${id}`, unreadable));
    expect(await verdict(createClient("azure"), next)).toEqual(refused(`for item ${id}`, unreadable));
    const elsewhere = await createClient("xai").ask({ ...wordsOnly(next), model: "grok-4.5" });
    expect({ status: elsewhere.status, body: elsewhere.body }).toEqual({
      status: 400,
      body: {
        code: "invalid-argument",
        error:
          "Could not decrypt the provided encrypted_content. Ensure the value is the unmodified encrypted_content from a previous response.",
      },
    });
  });

  it("may be omitted together with the ids of the items after it, but not alone", async () => {
    const server = createClient("openai", { script: loop });
    const next = await followUp(server, { ...question, store: true });
    const rest = itemsOf(next).filter(({ type }) => type !== "reasoning");
    const ids = itemsOf(next).map((item) => asText(item["id"]));

    expect(await verdict(server, { ...next, input: rest })).toEqual([
      400,
      null,
      `Item '${ids[2]}' of type 'message' was provided without its required 'reasoning' item: '${ids[1]}'.`,
    ]);
    expect(await verdict(server, { ...next, input: rest.map(({ id: _id, ...item }) => item) })).toBe(200);
  });

  it("may be referenced where it was stored, and is not found at another server", async () => {
    const server = createClient("openai", { script: loop });
    const next = withThought(await followUp(server, { ...question, store: true }), { encrypted_content: undefined });
    const elsewhere = withThought(next, { id: "rs_6876cf02e0bc8192b74af0fb64b715ff06fa2fcced15a5ac" });

    expect(await verdict(server, next)).toBe(200);
    expect(
      await verdict(server, {
        ...elsewhere,
        input: itemsOf(elsewhere).map((item) => (item["type"] === "function_call" ? { ...item, id: undefined } : item)),
      }),
    ).toEqual([404, null, "Item with id 'rs_6876cf02e0bc8192b74af0fb64b715ff06fa2fcced15a5ac' not found."]);
  });
});

describe("the prompt cache of a Responses server", () => {
  const long = { model: "gpt-5.6", instructions: "word ".repeat(1000), input: "Go." };
  const cached = async ({ ask }: ResponsesTestClient, body: Json): Promise<unknown> =>
    asObject((await ask(body)).body["usage"])["input_tokens_details"];

  it("caches prompts of 1024 tokens and more automatically, in steps of 128", async () => {
    const server = createClient("openai");

    expect(await cached(server, long)).toEqual({ cached_tokens: 0, cache_write_tokens: 1152 });
    expect(await cached(server, { ...long, input: "Other." })).toEqual({ cached_tokens: 1152, cache_write_tokens: 0 });
    expect(await cached(server, { ...long, instructions: "word ".repeat(800) })).toEqual({
      cached_tokens: 0,
      cache_write_tokens: 0,
    });
  });

  it("misses when the effort or the tools change", async () => {
    const server = createClient("openai");
    await server.ask(long);

    expect(await cached(server, { ...long, reasoning: { effort: "high" } })).toMatchObject({ cached_tokens: 0 });
    expect(await cached(server, { ...long, tools: tools("snap") })).toMatchObject({ cached_tokens: 0 });
  });
});
