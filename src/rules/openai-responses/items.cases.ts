import type { RuleCase } from "../rule.cases.ts";
import {
  ask,
  at,
  call,
  deepseek,
  exchange,
  ok,
  okExchange,
  openai,
  output,
  said,
  thought,
  user,
} from "./bodies.cases.ts";
import { casesFromRows } from "../openai/rows.cases.ts";

const azure = at("azure", "gpt-5.4");
const long = "c".repeat(65);
const custom = { type: "custom_tool_call", call_id: "call_1", name: "patch", input: "x" };

/** Cases for calls, outputs, reasoning and item ids. */
export const responsesItemCases: readonly RuleCase[] = [
  ...casesFromRows("openai-responses/call-without-output", openai, [
    [
      "a cancelled call",
      "/input/1",
      ask([user(), call("call_1"), user()]),
      ask([user(), call("call_1"), user("wait"), output("call_1")]),
    ],
    [
      "one of two calls",
      "/input/2",
      ask([user(), call("call_1"), call("call_2"), output("call_1")]),
      ask([user(), call("call_1"), call("call_2"), output("call_2"), output("call_1")]),
    ],
    [
      "a custom call",
      "/input/1",
      ask([user(), custom]),
      ask([user(), custom, { type: "custom_tool_call_output", call_id: "call_1", output: "ok" }]),
    ],
    [
      "a call on top of stored items",
      "/input/0",
      ask([call("call_1")], { previous_response_id: "resp_1" }),
      ask([output("call_1")], { previous_response_id: "resp_1" }),
    ],
  ]),
  ...["azure", "xai", "openrouter", "deepseek"].flatMap((provider) =>
    casesFromRows("openai-responses/call-without-output", at(provider, "m"), [
      ["a call at the end", "/input/1", ask([user(), call("call_1")]), okExchange],
    ]),
  ),
  ...casesFromRows("openai-responses/output-without-call", openai, [
    [
      "a window that begins with an output",
      "/input/0",
      ask([output("call_1"), user()]),
      ask([{ type: "item_reference", id: "fc_1" }, output("call_1"), user()]),
    ],
    [
      "an output for another id",
      "/input/3",
      ask([...exchange("call_1"), output("call_2")]),
      ask([user(), { type: "tool_search_call", call_id: "call_1", execution: "client" }, output("call_1")]),
    ],
  ]),
  ...casesFromRows("openai-responses/output-without-call", at("xai", "grok-4"), [
    ["a lone output", "/input/1", ask([user(), output("call_1")]), okExchange],
  ]),
  ...casesFromRows("openai-responses/output-before-call", openai, [
    ["the answer before the question", "/input/1", ask([user(), output("call_1"), call("call_1")]), okExchange],
  ]),
  ...casesFromRows("openai-responses/duplicate-output", openai, [
    [
      "a late real output after the made-up one",
      "/input/3",
      ask([...exchange("call_1"), output("call_1", "late")]),
      okExchange,
    ],
  ]),
  ...casesFromRows("openai-responses/duplicate-call-id", openai, [
    [
      "an id that restarts every turn",
      "/input/2/call_id",
      ask([user(), call("read:0"), call("read:0"), output("read:0")]),
      ask([user(), call("read:0"), call("read:1"), output("read:0"), output("read:1")]),
    ],
  ]),
  ...casesFromRows("openai-responses/long-call-id", openai, [
    ["65 letters", "/input/1/call_id", ask(exchange(long)), ask(exchange("c".repeat(64)))],
  ]),
  ...casesFromRows("openai-responses/long-call-id", azure, [
    ["65 letters", "/input/2/call_id", ask(exchange(long)), ask(exchange("c".repeat(64)))],
  ]),
  ...casesFromRows("openai-responses/blank-call-id", openai, [
    ["an empty id", "/input/1/call_id", ask(exchange("")), okExchange],
  ]),
  ...casesFromRows("openai-responses/null-call-id", openai, [
    ["an output without a call", "/input/1/call_id", ask([user(), output(null)]), okExchange],
  ]),
  ...casesFromRows("openai-responses/item-id-prefix", openai, [
    [
      "a call with an id of Chat",
      "/input/2/id",
      ask([user(), thought("rs_1"), call("call_1", { id: "call_1" }), output("call_1")]),
      ask([user(), thought("rs_1"), call("call_1", { id: "fc_1" }), output("call_1")]),
    ],
    ["a message with a number", "/input/1/id", ask([user(), said("1"), user()]), ask([user(), said("msg_1"), user()])],
    [
      "reasoning of DeepSeek",
      "/input/1/id",
      ask([user(), thought("fa6f3a83-5d25"), said("msg_1"), user()]),
      ask([user(), thought("rs_1"), said("msg_1"), user()]),
    ],
    [
      "a custom call with the id of a function",
      "/input/1/id",
      ask([user(), { ...custom, id: "fc_1" }, { type: "custom_tool_call_output", call_id: "call_1", output: "ok" }]),
      ask([user(), { ...custom, id: "ctc_1" }, { type: "custom_tool_call_output", call_id: "call_1", output: "ok" }]),
    ],
  ]),
  ...casesFromRows("openai-responses/item-id-letters", openai, [
    ["a bar in an id", "/input/1/id", ask([user(), said("msg_1|2"), user()]), ask([user(), said("msg_1-2"), user()])],
  ]),
  ...casesFromRows("openai-responses/long-item-id", openai, [
    [
      "65 letters",
      "/input/1/id",
      ask([user(), said(`msg_${"c".repeat(61)}`), user()]),
      ask([user(), said(`msg_${"c".repeat(60)}`), user()]),
    ],
  ]),
  ...casesFromRows("openai-responses/duplicate-item-id", openai, [
    [
      "one message twice",
      "/input/3/id",
      ask([user(), said("msg_1"), user(), said("msg_1"), user()]),
      ask([user(), said("msg_1"), user(), said("msg_2"), user()]),
    ],
  ]),
  ...casesFromRows("openai-responses/repeated-item-id", at("xai", "grok-4"), [
    [
      "one item per summary",
      "/input/2/id",
      ask([user(), thought("rs_1"), thought("rs_1"), said("msg_1"), user()]),
      ask([user(), thought("rs_1"), said("msg_1"), user()]),
    ],
  ]),
  ...casesFromRows("openai-responses/reasoning-follower", openai, [
    [
      "reasoning without its answer",
      "/input/1",
      ask([user(), thought("rs_1"), user()]),
      ask([user(), thought("rs_1"), thought("rs_2"), said("msg_1"), user()]),
    ],
    [
      "reasoning at the end",
      "/input/1",
      ask([user(), thought("rs_1")]),
      ask([user(), thought("rs_1"), call("call_1", { id: "fc_1" }), output("call_1")]),
    ],
    [
      "reasoning before an output",
      "/input/2",
      ask([user(), call("call_1"), thought("rs_1"), output("call_1")]),
      ask([user(), thought("rs_1"), { type: "web_search_call", id: "ws_1" }, user()]),
    ],
  ]),
  ...casesFromRows("openai-responses/reasoning-follower", azure, [
    ["reasoning at the end", "/input/1", ask([user(), thought("rs_1")]), ok],
  ]),
  ...casesFromRows("openai-responses/nameless-follower", openai, [
    [
      "an answer without an id",
      "/input/1",
      ask([user(), thought("rs_1"), { role: "assistant", content: "so" }, user()]),
      ask([user(), thought("rs_1"), said("msg_1"), user()]),
    ],
  ]),
  ...casesFromRows("openai-responses/loose-follower", openai, [
    [
      "an answer without an id, where nothing is stored",
      "/input/1",
      ask([user(), thought("rs_1"), { role: "assistant", content: "so" }, user()], { store: false }),
      ask([user(), thought("rs_1"), said("msg_1"), user()], { store: false }),
    ],
  ]),
  ...casesFromRows("openai-responses/reasoning-not-stored", openai, [
    [
      "an id and no blob",
      "/input/1",
      ask([user(), thought("rs_1", { encrypted_content: null }), said("msg_1"), user()], { store: false }),
      ask([user(), thought("rs_1", { encrypted_content: null }), said("msg_1"), user()], { store: true }),
    ],
  ]),
  ...casesFromRows("openai-responses/id-without-reasoning", openai, [
    ["a call without its reasoning", "/input/1/id", ask(exchange("call_1", { id: "fc_1" })), okExchange],
  ]),
  ...casesFromRows("openai-responses/interleaved-call", deepseek, [
    [
      "text between two calls",
      "/input/2",
      ask([
        user(),
        call("call_1"),
        { role: "assistant", content: "and" },
        call("call_2"),
        output("call_1"),
        output("call_2"),
      ]),
      ask([
        user(),
        { role: "assistant", content: "and" },
        call("call_1"),
        call("call_2"),
        output("call_1"),
        output("call_2"),
      ]),
    ],
    [
      "reasoning between two calls",
      "/input/2",
      ask([user(), call("call_1"), thought("rs_1"), call("call_2"), output("call_1"), output("call_2")]),
      ask([user(), call("call_1"), output("call_1"), thought("rs_1"), call("call_2"), output("call_2")]),
    ],
  ]),
];
