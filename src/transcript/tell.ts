import type { Text } from "../conversation/parts.ts";
import type { Decide } from "./decisions.ts";
import type { File, ModelStep } from "./step.ts";
import { calledTool, resultOfTool } from "./words.ts";

/** What a model said and what it was answered, for one that knows no tools. */
export type Told = { readonly said: ModelStep["parts"]; readonly answered: readonly (Text | File)[] };

/** Tells of calls and their results in words: calls stand among the model's own, results in the user's. */
export const tellInWords = (parts: ModelStep["parts"], decide: Decide): Told => {
  const said: ModelStep["parts"][number][] = [];
  const answered: (Text | File)[] = [];
  for (const part of parts) {
    if (part.type !== "exchange") {
      said.push(part);
      continue;
    }
    const { call, tool, input, inputText, result } = part;
    decide("calls-as-words", `This model knows no tools; the call of ${tool} is told in words.`, call);
    said.push({ type: "text", text: calledTool(tool, inputText ?? JSON.stringify(input)) });
    answered.push({ type: "text", text: resultOfTool(tool, result.status) });
    for (const content of result.content)
      answered.push(content.type === "structured" ? { type: "text", text: JSON.stringify(content.value) } : content);
  }
  return { said, answered };
};
