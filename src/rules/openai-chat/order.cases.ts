import type { RuleCase } from "../rule.cases.ts";
import { assistant, chat, exchange, ok, reasoned, text, user } from "./bodies.cases.ts";
import { at, deepseek, kimi, local, mistral } from "./targets.cases.ts";
import { casesFromRows } from "../openai/rows.cases.ts";

/** Cases for the order of messages and for required reasoning. */
export const chatOrderCases: readonly RuleCase[] = [
  ...casesFromRows("openai-chat/system-position", mistral, [
    [
      "instructions after an answer",
      "/messages/2",
      chat([user(), assistant("hi"), { role: "system", content: "be brief" }, user()]),
      chat([{ role: "system", content: "be brief" }, user(), { role: "system", content: "x" }, user()]),
    ],
    [
      "instructions after a result",
      "/messages/3",
      chat([...exchange("abcdefghi"), { role: "system", content: "be brief" }, user()]),
      chat([...exchange("abcdefghi"), user()]),
    ],
  ]),
  ...casesFromRows("openai-chat/late-system", local, [
    [
      "instructions in the middle",
      "/messages/1",
      chat([user(), { role: "system", content: "x" }, user()]),
      chat([{ role: "system", content: "x" }, { role: "system", content: "y" }, user()]),
    ],
  ]),
  ...casesFromRows("openai-chat/last-message", mistral, [
    [
      "an answer at the end",
      "/messages/1",
      chat([user(), assistant("hi")]),
      chat([user(), assistant("hi", { prefix: true })]),
    ],
  ]),
  ...casesFromRows("openai-chat/prefix-position", mistral, [
    [
      "a prefix in the middle",
      "/messages/1/prefix",
      chat([user(), assistant("hi", { prefix: true }), user()]),
      chat([user(), assistant("hi", { prefix: false }), user()]),
    ],
  ]),
  ...casesFromRows("openai-chat/user-after-tool", at("local", "mistral-small"), [
    [
      "a user after a result",
      "/messages/3",
      chat([...exchange("call_1"), user()]),
      chat([...exchange("call_1"), assistant("ok"), user()]),
    ],
  ]),
  ...casesFromRows("openai-chat/no-user", at("zai", "glm-5.2"), [
    ["only instructions", "/messages", chat([{ role: "system", content: "x" }]), ok],
  ]),
  ...casesFromRows("openai-chat/missing-reasoning", kimi, [
    ["a call without reasoning", "/messages/1", chat(exchange("call_1")), chat(exchange("call_1", reasoned))],
    [
      "null is not reasoning",
      "/messages/1",
      chat(exchange("call_1", { reasoning_content: null })),
      chat([user(), assistant("hi"), user()]),
    ],
  ]),
  ...casesFromRows("openai-chat/missing-reasoning", at("kimi"), [
    [
      "no model named: the strict one",
      "/messages/1",
      { messages: exchange("call_1") },
      { messages: exchange("call_1", reasoned) },
    ],
  ]),
  ...casesFromRows("openai-chat/missing-reasoning", at("kimi", "kimi-k3"), [
    ["K3 always thinks", "/messages/1", chat(exchange("call_1")), chat(exchange("call_1", reasoned))],
  ]),
  ...casesFromRows("openai-chat/missing-reasoning", deepseek, [
    [
      "a call without reasoning",
      "/messages/1",
      chat(exchange("call_1")),
      chat(exchange("call_1"), { thinking: { type: "disabled" } }),
    ],
    [
      "the last text of a turn with tools",
      "/messages/3",
      chat([...exchange("call_1", reasoned), assistant("so"), user()]),
      chat([...exchange("call_1", reasoned), assistant("so", reasoned), user(), assistant("x"), user()]),
    ],
  ]),
  ...casesFromRows("openai-chat/missing-reasoning", at("deepseek", "deepseek-reasoner"), [
    ["the reasoner with tools", "/messages/1", chat(exchange("call_1")), chat(exchange("call_1", reasoned))],
  ]),
  ...casesFromRows("openai-chat/thinking-first", mistral, [
    [
      "thinking after text",
      "/messages/1/content/1",
      chat([user(), assistant([text(), { type: "thinking", thinking: [text()] }]), user()]),
      chat([user(), assistant([{ type: "thinking", thinking: [text()] }, text()]), user()]),
    ],
  ]),
  ...casesFromRows("openai-chat/duplicate-reasoning-id", at("openrouter", "openai/gpt-5.4"), [
    [
      "one id in two messages",
      "/messages/3/reasoning_details/0/id",
      chat([
        user(),
        assistant("a", { reasoning_details: [{ id: "rs_1" }] }),
        user(),
        assistant("b", { reasoning_details: [{ id: "rs_1" }] }),
        user(),
      ]),
      chat([user(), assistant("a", { reasoning_details: [{ id: "rs_1" }, { id: "rs_1" }] }), user()]),
    ],
  ]),
];
