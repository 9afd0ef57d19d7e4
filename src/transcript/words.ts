import type { Media, OutcomeStatus } from "../conversation/parts.ts";

/*
 * Every sentence the renderer adds to a transcript. They are part of the request prefix of sessions that were sent
 * before, so they never change.
 */

/** User message that asks the model to continue when the conversation ends with its own message. */
export const continueText = "Continue.";

/** First user message where a conversation begins with the model. */
export const openingText = "(The conversation begins here.)";

/** Model message between two user messages, where an API requires one. */
export const bridgeText = ".";

/** Content of an empty result. */
const noOutput = "(no output)";

/** Content of the result of a call without a completion. */
const noResult = "No result was recorded: the run was interrupted before this call finished.";

/** Content of the result of a call with malformed arguments. */
export const unreadableArguments = "The arguments of this call were not a valid JSON object, so the tool was not run.";

/** Content of a result without content, by how the call ended. */
export const emptyResultTexts: Readonly<Record<OutcomeStatus, string>> = {
  complete: noOutput,
  error: "The tool failed without a message.",
  cancelled: "The call was cancelled.",
  interrupted: noResult,
};

/** Placeholder in a result for a file that follows the batch. */
export const fileReference = (id: string): string => `See file ${id}`;

/** Label before a file that belongs to an earlier result. */
export const fileLabel = (id: string): string => `This is file ${id}:`;

/** A text file shown as text. */
export const fileText = (media: Media, content: string): string =>
  `File ${media.id}${media.name === undefined ? "" : ` "${media.name}"`} (${media.mimeType}):\n${content}`;

/** Stub for a file that is not shown, so that the model does not invent its content. */
export const mediaStub = (media: Media, why: string): string => {
  const facts = [
    media.mimeType,
    media.source.type === "blob" ? `${media.source.bytes} bytes` : `at ${media.source.uri.slice(0, 200)}`,
    ...(media.width !== undefined && media.height !== undefined ? [`${media.width}x${media.height} pixels`] : []),
    ...(media.pages !== undefined ? [`${media.pages} pages`] : []),
    ...(media.name !== undefined ? [`"${media.name}"`] : []),
  ];
  return `[${media.kind} ${media.id} not shown (${facts.join(", ")}): ${why}]`;
};

/** A tool call as text, for a model without tool support. */
export const callAsText = (tool: string, input: string): string => `(Called ${tool} with ${input})`.toWellFormed();

/** Label before the result of such a call. */
export const resultLabel = (tool: string, status: OutcomeStatus): string =>
  status === "complete" ? `(Result of ${tool.toWellFormed()}:)` : `(${tool.toWellFormed()} ended with ${status}:)`;

/** Label before a result without a call. */
export const orphanResultLabel = (tool: string): string =>
  `(A result of ${tool.toWellFormed()} was recorded without a call:)`;

/** Label before a second, different result of one call. */
export const conflictingResultLabel = (tool: string): string =>
  `(Another result of ${tool.toWellFormed()} was recorded later:)`;

/** The summary of a compaction. */
export const summaryText = (summary: string): string => `Summary of the conversation so far:\n\n${summary}`;

/** Placeholder in a result for its truncated middle. */
export const omissionText = (characters: number): string =>
  `[... ${characters} characters left out here; the session log keeps all of it. Call the tool for a smaller part to read more ...]`;

/** A notice of the program. */
export const noticeText = (text: string): string => `[Notice] ${text}`;

/** Another model's thinking, shown as text. */
export const thinkingAsText = (text: string): string => `<thinking>\n${text}\n</thinking>`;

/** Whether a text is blank: no API accepts such a text alone. */
export const isBlank = (text: string): boolean => {
  const first = text.charCodeAt(0);
  // Nearly every text begins with a visible ASCII character; only the others need the regular expression.
  return !(first > 32 && first < 127) && !/\S/.test(text);
};
