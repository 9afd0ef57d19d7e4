import type { Text } from "../conversation/parts.ts";
import type { AddNote } from "./decision-log.ts";
import type { MediaFile, ModelStep } from "./step.ts";
import { callAsText, resultLabel } from "./words.ts";

/** What a model said and what it was answered, for one that knows no tools. */
export type CallsAsText = {
  readonly modelParts: ModelStep["parts"];
  readonly userParts: readonly (Text | MediaFile)[];
};

/** Tells of calls and their results in words: calls stand among the model's own, results in the user's. */
export const renderCallsAsText = (parts: ModelStep["parts"], decide: AddNote): CallsAsText => {
  const said: ModelStep["parts"][number][] = [];
  const answered: (Text | MediaFile)[] = [];
  for (const part of parts) {
    if (part.type !== "exchange") {
      said.push(part);
      continue;
    }
    const { call, tool, input, inputText, result } = part;
    decide("calls-as-words", `This model knows no tools; the call of ${tool} is told in words.`, call);
    said.push({ type: "text", text: callAsText(tool, inputText ?? JSON.stringify(input)) });
    answered.push({ type: "text", text: resultLabel(tool, result.status) });
    for (const content of result.content)
      answered.push(content.type === "structured" ? { type: "text", text: JSON.stringify(content.value) } : content);
  }
  return { modelParts: said, userParts: answered };
};
