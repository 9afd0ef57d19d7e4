/*
 * Repairs a broken Anthropic body before your own SDK call. The run was killed
 * while tools were running, so the saved messages are damaged: one call has no
 * result, another has two, and a user message comes in between.
 */
import { convertRequest } from "parley-agent";
import { lint } from "parley-agent/rules";

const model = "claude-sonnet-5";
const broken = {
  model,
  max_tokens: 1024,
  messages: [
    { role: "user", content: "Compare a.txt and b.txt." },
    {
      role: "assistant",
      content: [
        { type: "tool_use", id: "toolu_a", name: "read", input: { path: "a.txt" } },
        { type: "tool_use", id: "toolu_b", name: "read", input: { path: "b.txt" } },
      ],
    },
    { role: "user", content: "Are you still there?" },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "toolu_b", content: "second file" },
        { type: "tool_result", tool_use_id: "toolu_b", content: "second file, read again" },
      ],
    },
  ],
};

const target = { wire: "anthropic", provider: "anthropic", model } as const;
console.log(`before: ${lint(broken, target).length} findings`);

const { body, report } = convertRequest(broken, "anthropic", `anthropic/${model}`);
for (const { kind, message } of report.notes) console.log(`  ${kind}: ${message}`);
console.log(`after: ${lint(body, target).length} findings`);

// Now send it: await new Anthropic().messages.create(body)
