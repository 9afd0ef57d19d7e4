import type { Media, OutcomeStatus } from "../conversation/parts.ts";

/*
 * Every sentence the renderer puts into a transcript. They are part of the
 * prompt prefix of every session that was ever sent, so they never change.
 */

/** The step that gives the model the word when the conversation ends with its own. */
export const continueText = "Continue.";

/** The step that stands first where a conversation begins with the model. */
export const openingText = "(The conversation begins here.)";

/** The model's word between two user steps, where an API wants one. */
export const bridgeText = ".";

/** What a result says that says nothing. */
const noOutput = "(no output)";

/** What is known about a call nobody completed. */
const noResult = "No result was recorded: the run was interrupted before this call finished.";

/** What a model reads about arguments nobody could. */
export const unreadableArguments = "The arguments of this call were not a valid JSON object, so the tool was not run.";

/** What a result without words says about how it ended. */
export const emptyResultTexts: Readonly<Record<OutcomeStatus, string>> = {
  complete: noOutput,
  error: "The tool failed without a message.",
  cancelled: "The call was cancelled.",
  interrupted: noResult,
};

/** Stands in a result in place of a file that follows the batch. */
export const fileReference = (id: string): string => `See file ${id}`;

/** Stands before a file that belongs to an earlier result. */
export const fileLabel = (id: string): string => `This is file ${id}:`;

/** Stands before the text of a file shown as text. */
export const fileText = (media: Media, content: string): string =>
  `File ${media.id}${media.name === undefined ? "" : ` "${media.name}"`} (${media.mimeType}):\n${content}`;

/** Names a file that is not shown, so that the model does not invent it. */
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

/** Tells of a call to a model that knows no tools. */
export const callAsText = (tool: string, input: string): string => `(Called ${tool} with ${input})`.toWellFormed();

/** Introduces the result of such a call. */
export const resultLabel = (tool: string, status: OutcomeStatus): string =>
  status === "complete" ? `(Result of ${tool.toWellFormed()}:)` : `(${tool.toWellFormed()} ended with ${status}:)`;

/** Introduces a result nobody asked for. */
export const orphanResultLabel = (tool: string): string =>
  `(A result of ${tool.toWellFormed()} was recorded without a call:)`;

/** Introduces a second, different result of one call. */
export const conflictingResultLabel = (tool: string): string =>
  `(Another result of ${tool.toWellFormed()} was recorded later:)`;

/** Introduces what stands for the compacted past. */
export const summaryText = (summary: string): string => `Summary of the conversation so far:\n\n${summary}`;

/** Stands in a result for what was in its middle. */
export const omissionText = (characters: number): string =>
  `[... ${characters} characters left out here; the session log keeps all of it. Call the tool for a smaller part to read more ...]`;

/** Something the runtime says. */
export const noticeText = (text: string): string => `[Notice] ${text}`;

/** Another model's thinking, shown as words. */
export const thinkingAsText = (text: string): string => `<thinking>\n${text}\n</thinking>`;

/** Whether a text has no words: no API takes such a text alone. */
export const isBlank = (text: string): boolean => {
  const first = text.charCodeAt(0);
  // Nearly every text begins with a visible ASCII character; only the others are looked at closely.
  return !(first > 32 && first < 127) && !/\S/.test(text);
};
