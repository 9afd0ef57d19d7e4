import type { Call, Content as ResultPart, Media, UserPart } from "../conversation/parts.ts";

/** Formats message content by the GenAI conventions; returns undefined where content is not exported. */
export type ContentFormatter = {
  readonly text: (text: string) => string | undefined;
  /** The user's messages, in order. */
  readonly input: (messages: readonly (readonly UserPart[])[]) => string | undefined;
  readonly output: (message: OutputMessage) => string | undefined;
  /** Arguments, as JSON. */
  readonly arguments: (value: object) => string | undefined;
  readonly result: (parts: readonly ResultPart[]) => string | undefined;
};

/** A model's message. */
export type OutputMessage = {
  readonly text: string;
  readonly thought: string;
  readonly media: readonly Media[];
  readonly calls: readonly Call[];
  readonly finish: string;
};

/** Longer texts are cut: collectors refuse large attributes. */
const maxLength = 16_000;

/** Creates a formatter that exports content, with secrets redacted. */
export const createContentFormatter = (redact: (text: string) => string): ContentFormatter => {
  const redactText = (text: string): string => cut(redact(text.slice(0, 2 * maxLength)));
  const textPart = (text: string, type: "text" | "reasoning"): readonly object[] =>
    text === "" ? [] : [{ type, content: redactText(text) }];
  const redactJson = (value: unknown): string => cut(redact(JSON.stringify(value).slice(0, 2 * maxLength)));
  return {
    text: redactText,
    input: (messages) =>
      JSON.stringify(
        messages.map((parts) => ({
          role: "user",
          parts: parts.flatMap((part) => (part.type === "text" ? textPart(part.text, "text") : [formatFile(part)])),
        })),
      ),
    output: ({ text, thought, media, calls, finish }) => {
      const parts = [
        ...textPart(thought, "reasoning"),
        ...textPart(text, "text"),
        ...media.map(formatFile),
        ...calls.map(({ id, tool, input }) => ({
          type: "tool_call",
          id,
          name: tool,
          arguments: redactJson(input.type === "parsed" ? input.value : input.text),
        })),
      ];
      return JSON.stringify([{ role: "assistant", parts, finish_reason: finish }]);
    },
    arguments: redactJson,
    result: (parts) =>
      redactText(
        parts
          .map((part) => {
            if (part.type === "text") return part.text;
            return part.type === "media" ? `[${part.kind} ${part.id} ${part.mimeType}]` : JSON.stringify(part.value);
          })
          .join("\n"),
      ),
  };
};

/** Exports no content. */
export const noContent: ContentFormatter = {
  text: () => undefined,
  input: () => undefined,
  output: () => undefined,
  arguments: () => undefined,
  result: () => undefined,
};

const formatFile = ({ kind, mimeType, id }: Media): object => ({
  type: "file",
  modality: kind,
  mime_type: mimeType,
  file_id: id,
});

const cut = (text: string): string => (text.length <= maxLength ? text : `${text.slice(0, maxLength)}... (cut here)`);
