import { describe, it } from "vitest";
import { geminiCases } from "./rules.cases.ts";
import { lint } from "../lint.ts";
import { testRules } from "../test-rules.cases.ts";
import { fc } from "../../../test/support/fast-check.ts";

describe("gemini rules", () => {
  testRules("gemini", geminiCases);

  it("never throws for any body", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (inner, other) => {
        lint(inner, { wire: "gemini" });
        lint(
          { contents: inner, tools: other, generationConfig: inner, toolConfig: other, systemInstruction: inner },
          { wire: "gemini" },
        );
        lint(
          {
            contents: [
              { role: "user", parts: inner },
              { role: "model", parts: [inner, { functionCall: other }] },
              { role: inner, parts: [{ functionResponse: { parts: other } }] },
            ],
          },
          { wire: "gemini" },
        );
        lint(
          {
            request: inner,
            tools: [
              {
                functionDeclarations: [
                  inner,
                  { name: "a", parameters: other },
                  { name: "b", parametersJsonSchema: other },
                ],
              },
            ],
          },
          { wire: "gemini", provider: "code-assist" },
        );
      }),
    );
  });
});
