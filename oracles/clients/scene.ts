import type { Script } from "../../src/sim/model/script.ts";

/** The system prompt. */
export const system = "You are careful.";

/** The user's prompt. */
export const question = "Please look at cat.png and measure it.";

/** A tool, with the schema of its arguments. */
type SceneTool = {
  readonly name: string;
  readonly description: string;
  readonly parameters: {
    readonly type: "object";
    readonly properties: { readonly path: { readonly type: "string" } };
    readonly required: ["path"];
  };
};

const parameters: SceneTool["parameters"] = {
  type: "object",
  properties: { path: { type: "string" } },
  required: ["path"],
};

/** The tools: one returns an image, the other text. */
export const tools: readonly SceneTool[] = [
  { name: "look", description: "Shows a picture.", parameters },
  { name: "measure", description: "Tells the size of a picture.", parameters },
];

const base64 =
  "iVBORw0KGgoAAAANSUhEUgAAAUAAAADwAQAAAABZVoDGAAAAIElEQVR42u3BgQAAAADDoPlTH+ECVQEAAAAAAAAAAMA3JnAAAWMcpeUAAAAASUVORK5CYII=";

/** The image result. It has 320 by 240 pixels, which every simulator counts as 103 tokens. */
export const picture: {
  readonly mimeType: "image/png";
  readonly base64: string;
  readonly url: string;
  readonly tokens: number;
} = { mimeType: "image/png", base64, url: `data:image/png;base64,${base64}`, tokens: 103 };
export const measurement = "320 by 240 pixels";

/**
 * The id of the image in text results, for APIs without images there: as Parley writes it, so that requests can be
 * compared.
 */
export const pictureId = "file-cf976e0d";

/** The output limit. */
export const maxTokens = 4096;

/** The model's replies: thinking, text and two calls; then, after the results, the final text. */
export const modelOutput = {
  thought: "Both tools can work at the same time.",
  words: "I will look and measure.",
  calls: [
    { tool: "look", input: { path: "cat.png" } },
    { tool: "measure", input: { path: "cat.png" } },
  ],
  end: "It is a cat, 320 by 240 pixels.",
} as const;

/** The script of the simulated model. */
export const script: Script = {
  rules: [
    {
      prompt: "look at cat.png",
      tool: "measure",
      replies: [
        { think: modelOutput.thought, say: modelOutput.words, call: modelOutput.calls },
        { say: modelOutput.end },
      ],
    },
  ],
};
