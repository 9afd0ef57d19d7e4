import { describe, it } from "vitest";
import { bedrockCases } from "./rules.cases.ts";
import { lint } from "../lint.ts";
import { testRules } from "../test-rules.cases.ts";
import { fc } from "../../../test/support/fast-check.ts";

describe("bedrock rules", () => {
  testRules("bedrock", bedrockCases);

  it("never throws for any body", () => {
    const target = { wire: "bedrock", model: "anthropic.claude-sonnet-4-5" } as const;
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        lint(one, target);
        lint(
          { messages: one, system: other, toolConfig: one, inferenceConfig: other, additionalModelRequestFields: one },
          target,
        );
        lint(
          {
            messages: [
              { role: "user", content: one },
              { role: one, content: [other, { toolUse: one }] },
            ],
          },
          target,
        );
        lint(
          {
            messages: [
              { role: "user", content: [{ toolResult: { content: [one, { document: other }] } }, { image: one }] },
            ],
          },
          target,
        );
        lint(
          {
            toolConfig: {
              tools: [one, { toolSpec: other }, { toolSpec: { inputSchema: { json: one } } }],
              toolChoice: other,
            },
          },
          target,
        );
      }),
    );
  });
});
