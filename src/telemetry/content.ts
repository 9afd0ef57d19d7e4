import type { Call, Content as ResultPart, Media, UserPart } from "../conversation/parts.ts";

/** What was said, in the forms of the GenAI conventions; nothing at all where the person does not want it sent. */
export type ContentFormatter = {
  readonly text: (text: string) => string | undefined;
  /** Messages of the person, in order. */
  readonly input: (messages: readonly (readonly UserPart[])[]) => string | undefined;
  readonly output: (message: OutputMessage) => string | undefined;
  /** Arguments, as JSON. */
  readonly arguments: (value: object) => string | undefined;
  readonly result: (parts: readonly ResultPart[]) => string | undefined;
};

/** A message of a model. */
export type OutputMessage = {
  readonly text: string;
  readonly thought: string;
  readonly media: readonly Media[];
  readonly calls: readonly Call[];
  readonly finish: string;
};

/** Longer texts are cut: collectors refuse large attributes. */
const maxLength = 16_000;

/** Hands out what was said, without secrets. */
export const createContentFormatter = (redact: (text: string) => string): ContentFormatter => {
  const shared = (text: string): string => cut(redact(text.slice(0, 2 * maxLength)));
  const worded = (text: string, type: "text" | "reasoning"): readonly object[] =>
    text === "" ? [] : [{ type, content: shared(text) }];
  const written = (value: unknown): string => cut(redact(JSON.stringify(value).slice(0, 2 * maxLength)));
  return {
    text: shared,
    input: (messages) =>
      JSON.stringify(
        messages.map((parts) => ({
          role: "user",
          parts: parts.flatMap((part) => (part.type === "text" ? worded(part.text, "text") : [formatFile(part)])),
        })),
      ),
    output: ({ text, thought, media, calls, finish }) => {
      const parts = [
        ...worded(thought, "reasoning"),
        ...worded(text, "text"),
        ...media.map(formatFile),
        ...calls.map(({ id, tool, input }) => ({
          type: "tool_call",
          id,
          name: tool,
          arguments: written(input.type === "parsed" ? input.value : input.text),
        })),
      ];
      return JSON.stringify([{ role: "assistant", parts, finish_reason: finish }]);
    },
    arguments: written,
    result: (parts) =>
      shared(
        parts
          .map((part) => {
            if (part.type === "text") return part.text;
            return part.type === "media" ? `[${part.kind} ${part.id} ${part.mimeType}]` : JSON.stringify(part.value);
          })
          .join("\n"),
      ),
  };
};

/** Keeps everything to itself. */
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
