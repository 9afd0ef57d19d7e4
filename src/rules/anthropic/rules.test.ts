import { describe, it } from "vitest";
import { anthropicCases } from "./rules.cases.ts";
import { lint } from "../lint.ts";
import { testRules } from "../test-rules.cases.ts";
import { fc } from "../../../test/support/fast-check.ts";

describe("anthropic rules", () => {
  testRules("anthropic", anthropicCases);

  it("never throws for any body", () => {
    const target = { wire: "anthropic" } as const;
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        lint(one, target);
        lint(
          { messages: one, system: other, tools: one, tool_choice: other, thinking: one, output_config: other },
          target,
        );
        lint(
          {
            messages: [
              { role: "user", content: one },
              { role: one, content: [other, { type: "tool_use", input: one }] },
            ],
          },
          target,
        );
        lint(
          {
            messages: [
              {
                role: "user",
                content: [
                  { type: "tool_result", content: one },
                  { type: "image", source: other },
                ],
              },
            ],
          },
          target,
        );
        lint(
          { tools: [one, { name: "a", strict: true, input_schema: other }], cache_control: one, stop_sequences: other },
          target,
        );
      }),
    );
  });
});
