import type { Conversation, Entry } from "../../../src/conversation/entry.ts";
import type { Content, OutcomeStatus } from "../../../src/conversation/parts.ts";
import { Random } from "../random.ts";

/** A conversation as a list of turns, in no agent's form: what a writer writes, and what an import must give back. */
export type Story = {
  readonly turns: readonly (StoryTurn | StoryMark)[];
  /** Conversations of subagents. */
  readonly subagents?: readonly Story[];
};

/** Between turns: the last turns are taken back and a new branch begins, or all but the last are replaced by a summary. */
export type StoryMark =
  | { readonly mark: "leave"; readonly turns: number }
  | { readonly mark: "compact"; readonly summary: string; readonly keep: number };

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

/** Parts of a story an agent's form cannot hold, and those it can beyond plain turns. */
export type StoryLimits = {
  readonly errors?: false;
  readonly thinking?: false;
  readonly promptImages?: false;
  /** Branches anywhere, or only at the end. */
  readonly branches?: "any" | "last";
  /** Compactions that keep the last turns as they are, or replace all. */
  readonly compactions?: "keep" | "all";
  readonly subagents?: true;
};

/** Makes a random story of plain turns. Every text in it is unique. */
export const makeStory = (seed: number, limits: StoryLimits = {}): Story => {
  const random = new Random(seed);
  const { makeTurns } = createWriter(seed, random, limits);
  return { turns: makeTurns(1 + random.below(4), true) };
};

/** Makes a random story with the branches, compactions and subagents that the limits allow. */
export const makeBranchedStory = (seed: number, limits: StoryLimits = {}): Story => {
  const random = new Random(seed);
  const { words, makeTurns } = createWriter(seed, random, limits);
  const turns: (StoryTurn | StoryMark)[] = [];
  const leave = (): void => {
    const left = makeTurns(1 + random.below(2), true);
    turns.push(...left, { mark: "leave", turns: left.length });
  };
  const segments = 1 + random.below(3);
  for (let segment = 1; segment <= segments; segment++) {
    const own = makeTurns(1 + random.below(2), segment === segments || random.chance(0.3));
    turns.push(...own);
    if (segment === segments) break;
    if (limits.branches === "any" && random.chance(0.5)) leave();
    if (limits.compactions !== undefined && random.chance(0.5)) {
      // Something is replaced, or there would be no reason for a summary.
      const most = segment === 1 ? own.length - 1 : own.length;
      const keep = limits.compactions === "keep" ? random.below(most + 1) : 0;
      turns.push({ mark: "compact", summary: words("summary"), keep });
    }
  }
  if (limits.branches === "last" && random.chance(0.7)) leave();
  const count = limits.subagents === true ? random.below(3) : 0;
  return {
    turns,
    subagents: Array.from({ length: count }, () => ({ turns: makeTurns(1 + random.below(2), random.chance(0.5)) })),
  };
};

type StoryText = {
  readonly words: (kind: string) => string;
  /** Makes turns. If the last is the end, its calls may have no result. */
  readonly makeTurns: (count: number, isEnd: boolean) => readonly StoryTurn[];
};

const createWriter = (seed: number, random: Random, limits: StoryLimits): StoryText => {
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
  const makeTurns = (turnCount: number, isEnd: boolean): readonly StoryTurn[] =>
    Array.from({ length: turnCount }, (_, turn) => {
      const stepCount = 1 + random.below(3);
      return {
        prompt: words("prompt"),
        ...(limits.promptImages !== false && random.chance(0.2) ? { image: image() } : {}),
        steps: Array.from({ length: stepCount }, (_unused, step) => {
          const isLastStep = step === stepCount - 1;
          const isLast = isEnd && turn === turnCount - 1 && isLastStep;
          // A step without calls ends its turn.
          const calls = Array.from({ length: isLastStep && !isLast ? 0 : (isLastStep ? 0 : 1) + random.below(3) }, () =>
            call(isLast),
          );
          return {
            ...(limits.thinking !== false && random.chance(0.4) ? { thinking: words("thought") } : {}),
            ...(calls.length === 0 || random.chance(0.5) ? { text: words("answer") } : {}),
            calls,
          };
        }),
      };
    });
  return { words, makeTurns };
};

/** One thing an import gives back: a message with its calls, each with its outcome. */
export type ToldMessage =
  | { readonly by: "user"; readonly texts: readonly string[]; readonly images: readonly string[] }
  | {
      readonly by: "model";
      readonly thinking: readonly string[];
      readonly texts: readonly string[];
      readonly calls: readonly ToldCall[];
    }
  | {
      readonly by: "summary";
      readonly text: string;
      /** How many messages before it are kept. */
      readonly kept: number;
    };

type ToldCall = {
  readonly tool: string;
  readonly input: unknown;
  readonly status: OutcomeStatus | "pending";
  readonly texts: readonly string[];
  readonly images: readonly string[];
};

/** Everything an import of a story must give back: its main conversation, and each branch and subagent. */
export type ToldConversations = {
  readonly main: readonly ToldMessage[];
  readonly others: readonly (readonly ToldMessage[])[];
};

/** Returns what an import of a story must give back. */
export const expectedConversations = ({ turns, subagents = [] }: Story): ToldConversations => {
  let active: Exclude<StoryTurn | StoryMark, { mark: "leave" }>[] = [];
  const others: (readonly ToldMessage[])[] = [];
  for (const each of turns) {
    if (!("mark" in each) || each.mark === "compact") active.push(each);
    else {
      others.push(tellTurns(active));
      active = active.slice(0, -each.turns);
    }
  }
  return { main: tellTurns(active), others: [...others, ...subagents.map(expectedMessages)] };
};

/** Returns the main conversation that an import of a story must give back. */
export const expectedMessages = (story: Story): readonly ToldMessage[] => expectedConversations(story).main;

const tellTurns = (turns: readonly Exclude<StoryTurn | StoryMark, { mark: "leave" }>[]): readonly ToldMessage[] =>
  turns.flatMap((each, index): readonly ToldMessage[] => {
    if (!("mark" in each)) return tellTurn(each);
    const kept = turns.slice(0, index).filter((turn) => !("mark" in turn));
    const messages = kept.slice(kept.length - each.keep).flatMap((turn) => ("mark" in turn ? [] : tellTurn(turn)));
    return [{ by: "summary", text: each.summary, kept: messages.length }];
  });

const tellTurn = ({ prompt, image, steps }: StoryTurn): readonly ToldMessage[] => [
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
];

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
  return entries.flatMap((entry: Entry, index): readonly ToldMessage[] => {
    if (entry.type === "compaction") {
      const kept = entries.slice(entry.from, index).filter(({ type }) => type === "user" || type === "model");
      return [{ by: "summary", text: entry.summary, kept: kept.length }];
    }
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
