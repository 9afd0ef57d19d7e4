import type { RuleCase } from "../rule.cases.ts";
import {
  assistant,
  call,
  calls,
  chat,
  exchange,
  image,
  ok,
  okExchange,
  reasoned,
  result,
  tool,
  user,
} from "./bodies.cases.ts";
import { at, deepseek, kimi, local, mistral, openai } from "./targets.cases.ts";
import { casesFromRows } from "../openai/rows.cases.ts";

const long = "c".repeat(41);

/** Cases for calls, results and their ids. */
export const chatPairingCases: readonly RuleCase[] = [
  ...casesFromRows("openai-chat/call-without-result", openai, [
    [
      "a cancelled call and the next user message",
      "/messages/1/tool_calls/0",
      chat([user(), calls(call("call_1")), user()]),
      chat([...exchange("call_1"), user()]),
    ],
    ["a call at the end", "/messages/1/tool_calls/0", chat([user(), calls(call("call_1"))]), okExchange],
    [
      "one of two calls",
      "/messages/1/tool_calls/1",
      chat([user(), calls(call("call_1"), call("call_2")), result("call_1"), user()]),
      chat([user(), calls(call("call_1"), call("call_2")), result("call_2"), result("call_1"), user()]),
    ],
  ]),
  ...["groq", "xai", "openrouter", "azure", "zai", "cohere", "minimax", "qwen"].flatMap((provider) =>
    casesFromRows("openai-chat/call-without-result", at(provider, "m"), [
      [
        "a call at the end",
        "/messages/1/tool_calls/0",
        chat([user(), calls(call("call_1"))], { tools: [tool("read")] }),
        chat(exchange("call_1"), { tools: [tool("read")] }),
      ],
    ]),
  ),
  ...casesFromRows("openai-chat/call-without-result", mistral, [
    [
      "a call at the end",
      "/messages/1/tool_calls/0",
      chat([user(), calls(call("abcdefghi"))]),
      chat(exchange("abcdefghi")),
    ],
  ]),
  ...casesFromRows("openai-chat/call-without-result", deepseek, [
    [
      "a call at the end",
      "/messages/1/tool_calls/0",
      chat([user(), { ...calls(call("call_1")), ...reasoned }]),
      chat(exchange("call_1", reasoned)),
    ],
  ]),
  ...casesFromRows("openai-chat/result-not-adjacent", openai, [
    [
      "the user typed while the tool ran",
      "/messages/3",
      chat([user(), calls(call("call_1")), user("wait"), result("call_1")]),
      chat([...exchange("call_1"), user("wait")]),
    ],
    [
      "an image between two results",
      "/messages/4",
      chat([user(), calls(call("call_1"), call("call_2")), result("call_1"), user([image()]), result("call_2")]),
      chat([user(), calls(call("call_1"), call("call_2")), result("call_1"), result("call_2"), user([image()])]),
    ],
  ]),
  ...casesFromRows("openai-chat/result-without-call", openai, [
    ["the history begins with a result", "/messages/0", chat([result("call_1"), user()]), okExchange],
    [
      "a result for another id",
      "/messages/3",
      chat([...exchange("call_1"), result("call_2"), user()]),
      chat([...exchange("call_1"), user()]),
    ],
  ]),
  ...casesFromRows("openai-chat/result-without-call", mistral, [
    [
      "a result of the turn before last",
      "/messages/2",
      chat([user(), assistant("hi"), result("abcdefghi"), user()]),
      chat([user(), assistant("hi"), user()]),
    ],
  ]),
  ...casesFromRows("openai-chat/result-without-call", kimi, [
    ["a result cut from its batch", "/messages/1", chat([user(), result("read:0"), user()]), ok],
  ]),
  ...casesFromRows("openai-chat/result-without-call", at("minimax", "MiniMax-M2"), [
    ["a lone result", "/messages/1", chat([user(), result("call_1"), user()]), ok],
  ]),
  ...casesFromRows("openai-chat/duplicate-result", openai, [
    [
      "a late real result after the made-up one",
      "/messages/3",
      chat([...exchange("call_1"), result("call_1", "late"), user()]),
      chat([...exchange("call_1"), user()]),
    ],
  ]),
  ...casesFromRows("openai-chat/duplicate-result", mistral, [
    [
      "two results for one call",
      "/messages/3",
      chat([...exchange("abcdefghi"), result("abcdefghi")]),
      chat(exchange("abcdefghi")),
    ],
  ]),
  ...casesFromRows("openai-chat/duplicate-call-id", openai, [
    [
      "two calls with one id",
      "/messages/1/tool_calls/1/id",
      chat([user(), calls(call("call_1"), call("call_1")), result("call_1"), result("call_1")]),
      chat([user(), calls(call("call_1"), call("call_2")), result("call_1"), result("call_2")]),
    ],
  ]),
  ...casesFromRows("openai-chat/duplicate-call-id", mistral, [
    [
      "two calls with one id",
      "/messages/1/tool_calls/1/id",
      chat([user(), calls(call("abcdefghi"), call("abcdefghi")), result("abcdefghi")]),
      chat(exchange("abcdefghi")),
    ],
  ]),
  ...casesFromRows("openai-chat/blank-call-id", openai, [
    ["an empty id", "/messages/1/tool_calls/0/id", chat(exchange("")), okExchange],
  ]),
  ...casesFromRows("openai-chat/blank-call-id", local, [
    ["an id of blanks", "/messages/1/tool_calls/0/id", chat(exchange("  ")), okExchange],
  ]),
  ...casesFromRows("openai-chat/long-call-id", openai, [
    ["41 letters", "/messages/1/tool_calls/0/id", chat(exchange(long)), chat(exchange("c".repeat(40)))],
  ]),
  ...casesFromRows("openai-chat/long-call-id", at("azure", "gpt-4o"), [
    ["41 letters", "/messages/1/tool_calls/0/id", chat(exchange(long)), chat(exchange("c".repeat(40)))],
  ]),
  ...casesFromRows("openai-chat/mistral-call-id", mistral, [
    ["an id of OpenAI", "/messages/1/tool_calls/0/id", chat(exchange("call_1234")), chat(exchange("call12345"))],
    ["eight letters", "/messages/1/tool_calls/0/id", chat(exchange("abcdefgh")), chat(exchange("abcdefghi"))],
  ]),
  ...casesFromRows("openai-chat/mistral-call-id", at("mistral"), [
    [
      "no model named",
      "/messages/1/tool_calls/0/id",
      { messages: exchange("call_1") },
      { messages: exchange("abcdefghi") },
    ],
  ]),
  ...casesFromRows("openai-chat/reused-call-id", openai, [
    [
      "an id that restarts every turn",
      "/messages/4/tool_calls/0/id",
      chat([...exchange("read-0"), ...exchange("read-0")]),
      chat([...exchange("read-0"), ...exchange("read-1")]),
    ],
  ]),
  ...casesFromRows("openai-chat/strange-call-id", openai, [
    ["an id of Kimi", "/messages/1/tool_calls/0/id", chat(exchange("functions.read:0")), okExchange],
  ]),
  ...casesFromRows("openai-chat/strange-call-id", at("xai", "grok-4"), [
    ["a long id where length is not checked", "/messages/1/tool_calls/0/id", chat(exchange(long)), okExchange],
  ]),
];
