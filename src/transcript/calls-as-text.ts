import type { Text } from "../conversation/parts.ts";
import type { AddNote } from "./decision-log.ts";
import type { MediaFile, ModelStep } from "./step.ts";
import { callAsText, resultLabel } from "./words.ts";

/** A model step with calls, rendered without tools: the model's parts, and the results as user parts. */
export type CallsAsText = {
  readonly modelParts: ModelStep["parts"];
  readonly userParts: readonly (Text | MediaFile)[];
};

/** Renders tool calls and their results as text, for models without tool support: calls in the model message, results in a user message. */
export const renderCallsAsText = (parts: ModelStep["parts"], addNote: AddNote): CallsAsText => {
  const modelParts: ModelStep["parts"][number][] = [];
  const userParts: (Text | MediaFile)[] = [];
  for (const part of parts) {
    if (part.type !== "exchange") {
      modelParts.push(part);
      continue;
    }
    const { call, tool, input, inputText, result } = part;
    addNote("calls-as-text", `This model supports no tools; the call of ${tool} is shown as text.`, call);
    modelParts.push({ type: "text", text: callAsText(tool, inputText ?? JSON.stringify(input)) });
    userParts.push({ type: "text", text: resultLabel(tool, result.status) });
    for (const content of result.content)
      userParts.push(content.type === "structured" ? { type: "text", text: JSON.stringify(content.value) } : content);
  }
  return { modelParts, userParts };
};
