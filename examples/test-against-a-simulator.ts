/*
 * Tests your own client against a strict simulator of an API: a scripted model,
 * a first request that fails, a request the real API would reject, and the log
 * of all requests.
 */
import { createSimulator, serve } from "parley-agent/sim";

const simulator = createSimulator({
  provider: "openai-chat",
  script: { rules: [{ prompt: "/weather/i", replies: [{ call: { tool: "weather", input: { city: "Oslo" } } }] }] },
  faults: [{ on: 1, fault: { type: "status", status: 429, headers: { "retry-after": "1" } } }],
});
const { url, close } = await serve(simulator);

// The client under test: here only `fetch`, in your case whatever takes a base URL.
const ask = async (messages: readonly unknown[]): Promise<void> => {
  const tools = [{ type: "function", function: { name: "weather", parameters: { type: "object", properties: {} } } }];
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: "Bearer any", "content-type": "application/json" },
    body: JSON.stringify({ model: "gpt-5.2", messages, tools }),
  });
  const body = JSON.stringify(await response.json());
  console.log(`${response.status} ${/"message":"[^"]+"|"tool_calls":.+?\]/.exec(body)?.[0]}`);
};
const question = { role: "user", content: "How is the weather?" };
await ask([question]);
await ask([question]);
await ask([question, { role: "tool", tool_call_id: "call_1", content: "4 C" }]);
await close();

for (const entry of simulator.log)
  console.log(
    `${entry.ordinal} ${entry.verdict}${entry.verdict === "refused" ? ` ${entry.rule ?? entry.message}` : ""}`,
  );
