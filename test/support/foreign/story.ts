import type { Conversation, Entry } from "../../../src/conversation/entry.ts";
import type { Content, OutcomeStatus } from "../../../src/conversation/parts.ts";
import { Random } from "../random.ts";

/** A conversation as a list of turns, in no agent's form: what a writer writes, and what an import must give back. */
export type Story = { readonly turns: readonly StoryTurn[] };

export type StoryTurn = {
  readonly prompt: string;
  /** Base64 of an image the person attached. */
  readonly image?: string;
  readonly steps: readonly StoryStep[];
};

export type StoryStep = { readonly thinking?: string; readonly text?: string; readonly calls: readonly StoryCall[] };

export type StoryCall = {
  readonly id: string;
  readonly tool: string;
  readonly input: { readonly path: string };
  /** Missing if the run was interrupted. */
  readonly result?: { readonly text: string; readonly image?: string; readonly isError: boolean };
};

/** Parts of a story an agent's form cannot hold. */
export type StoryLimits = { readonly errors?: false; readonly thinking?: false; readonly promptImages?: false };

/** Makes a random story. Every text in it is unique. */
export const makeStory = (seed: number, limits: StoryLimits = {}): Story => {
  const random = new Random(seed);
  let count = 0;
  const words = (kind: string): string =>
    `${kind}-${(count += 1)} ${random.pick(["plain", 'with "quotes"', "two\nlines", "päper ✓", "back\\slash", "<tag> & more"])}`;
  const image = (): string => Buffer.from(`image ${(count += 1)} of ${seed}`).toString("base64");
  const call = (isLast: boolean): StoryCall => ({
    id: `call_${(count += 1)}x${seed}`,
    tool: random.pick(["read_file", "Bash", "mcp__server__tool"]),
    input: { path: words("path") },
    ...(isLast && random.chance(0.3)
      ? {}
      : {
          result: {
            text: words("result"),
            ...(random.chance(0.2) ? { image: image() } : {}),
            isError: limits.errors !== false && random.chance(0.2),
          },
        }),
  });
  const turnCount = 1 + random.below(4);
  return {
    turns: Array.from({ length: turnCount }, (_, turn) => {
      const stepCount = 1 + random.below(3);
      return {
        prompt: words("prompt"),
        ...(limits.promptImages !== false && random.chance(0.2) ? { image: image() } : {}),
        steps: Array.from({ length: stepCount }, (_unused, step) => {
          const isLast = turn === turnCount - 1 && step === stepCount - 1;
          // A step without calls ends its turn.
          const isEnd = step === stepCount - 1;
          const calls = Array.from({ length: isEnd && !isLast ? 0 : (isEnd ? 0 : 1) + random.below(3) }, () =>
            call(isLast),
          );
          return {
            ...(limits.thinking !== false && random.chance(0.4) ? { thinking: words("thought") } : {}),
            ...(calls.length === 0 || random.chance(0.5) ? { text: words("answer") } : {}),
            calls,
          };
        }),
      };
    }),
  };
};

/** One thing an import gives back: a message with its calls, each with its outcome. */
export type ToldMessage =
  | { readonly by: "user"; readonly texts: readonly string[]; readonly images: readonly string[] }
  | {
      readonly by: "model";
      readonly thinking: readonly string[];
      readonly texts: readonly string[];
      readonly calls: readonly ToldCall[];
    };

type ToldCall = {
  readonly tool: string;
  readonly input: unknown;
  readonly status: OutcomeStatus | "pending";
  readonly texts: readonly string[];
  readonly images: readonly string[];
};

/** Returns what an import of a story must give back. */
export const expectedMessages = ({ turns }: Story): readonly ToldMessage[] =>
  turns.flatMap(({ prompt, image, steps }): readonly ToldMessage[] => [
    { by: "user", texts: [prompt], images: image === undefined ? [] : [image] },
    ...steps.map(({ thinking, text, calls }): ToldMessage => ({
      by: "model",
      thinking: thinking === undefined ? [] : [thinking],
      texts: text === undefined ? [] : [text],
      calls: calls.map(({ tool, input, result }) => ({
        tool,
        input,
        status: result === undefined ? "interrupted" : result.isError ? "error" : "complete",
        texts: result === undefined ? [] : [result.text],
        images: result?.image === undefined ? [] : [result.image],
      })),
    })),
  ]);

/** Returns the messages of an imported conversation in the same form. Texts of made-up outcomes are left out. */
export const toldMessages = ({ entries, blobs }: Conversation): readonly ToldMessage[] => {
  const outcomes = new Map(
    entries.flatMap((entry) => (entry.type === "completion" ? [[entry.call, entry.outcome] as const] : [])),
  );
  const imagesOf = (parts: readonly Content[]): readonly string[] =>
    parts.flatMap((part) =>
      part.type === "media" && part.source.type === "blob" ? [blobs[part.source.hash] ?? ""] : [],
    );
  const textsOf = (
    parts: readonly { readonly type: string; readonly text?: string }[],
    type: string,
  ): readonly string[] => parts.flatMap((part) => (part.type === type && part.text !== undefined ? [part.text] : []));
  return entries.flatMap((entry: Entry): readonly ToldMessage[] => {
    if (entry.type === "user")
      return [{ by: "user", texts: textsOf(entry.parts, "text"), images: imagesOf(entry.parts) }];
    if (entry.type !== "model") return [];
    return [
      {
        by: "model",
        thinking: textsOf(entry.parts, "thinking"),
        texts: textsOf(entry.parts, "text"),
        calls: entry.parts.flatMap((part): readonly ToldCall[] => {
          if (part.type !== "call") return [];
          const outcome = outcomes.get(part.id);
          const content = outcome?.synthetic === true ? [] : (outcome?.content ?? []);
          return [
            {
              tool: part.tool,
              input: part.input.type === "parsed" ? part.input.value : part.input.text,
              status: outcome?.status ?? "pending",
              texts: textsOf(content, "text"),
              images: imagesOf(content),
            },
          ];
        }),
      },
    ];
  });
};
