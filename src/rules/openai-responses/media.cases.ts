import type { RuleCase } from "../rule.cases.ts";
import { ask, at, call, deepseek, file, image, ok, openai, output, text, user, xai } from "./bodies.cases.ts";
import { pdf, png, casesFromRows, sound } from "../openai/rows.cases.ts";

const shows = (part: unknown, more: Readonly<Record<string, unknown>> = {}): unknown =>
  ask([user([text(), part])], more);
const returns = (part: unknown): unknown => ask([user(), call("call_1"), output("call_1", [part])]);
const hears = { type: "input_audio", input_audio: { data: sound, format: "wav" } };

/** Cases for what a message or an output may contain, and how media is encoded. */
export const responsesMediaCases: readonly RuleCase[] = [
  ...casesFromRows("openai-responses/output-part", openai, [
    ["audio in an output", "/input/2/output/0/type", returns(hears), returns(image())],
  ]),
  ...casesFromRows("openai-responses/output-part", at("azure", "gpt-5.4"), [
    ["audio in an output", "/input/2/output/0/type", returns(hears), returns(file({ file_data: pdf }))],
  ]),
  ...casesFromRows("openai-responses/output-part", at("openrouter", "m"), [
    ["audio in an output", "/input/2/output/0/type", returns(hears), returns(file({ file_id: "f" }))],
  ]),
  ...casesFromRows("openai-responses/output-part-unproven", xai, [
    [
      "a document in an output",
      "/input/2/output/0",
      returns(file({ file_id: "f" })),
      ask([user(), call("call_1"), output("call_1", [text(), text()])]),
    ],
  ]),
  ...casesFromRows("openai-responses/output-part-unproven", deepseek, [
    ["an image in an output", "/input/2/output/0", returns(image()), returns(text())],
  ]),
  ...casesFromRows("openai-responses/audio-part", openai, [
    ["an audio part", "/input/0/content/1/type", shows(hears), ok],
  ]),
  ...casesFromRows("openai-responses/image-source", openai, [
    [
      "an empty image",
      "/input/0/content/1",
      shows({ type: "input_image", detail: "auto" }),
      shows({ type: "input_image", file_id: "file-1" }),
    ],
  ]),
  ...casesFromRows("openai-responses/image-url", openai, [
    ["bare base64", "/input/0/content/1/image_url", shows(image("iVBORw0KGgo=")), shows(image())],
    [
      "a path in an output",
      "/input/2/output/0/image_url",
      returns(image("./a.png")),
      returns(image("https://a.test/a.png")),
    ],
  ]),
  ...casesFromRows("openai-responses/image-type", openai, [
    ["a document declared as an image", "/input/0/content/1/image_url", shows(image(pdf)), shows(image(png))],
    [
      "an SVG image",
      "/input/2/output/0/image_url",
      returns(image("data:image/svg+xml;base64,PHN2Zy8+")),
      returns(image(png)),
    ],
  ]),
  ...casesFromRows("openai-responses/image-data", openai, [
    [
      "prose after the comma",
      "/input/0/content/1/image_url",
      shows(image("data:image/png;base64,<cut>")),
      shows(image()),
    ],
  ]),
  ...casesFromRows("openai-responses/image-detail", openai, [
    [
      "an unknown detail",
      "/input/0/content/1/detail",
      shows(image(png, { detail: "ultra" })),
      shows(image(png, { detail: "original" })),
    ],
  ]),
  ...casesFromRows("openai-responses/file-source", openai, [
    [
      "an empty file",
      "/input/0/content/1",
      shows(file({ filename: "a.pdf" })),
      shows(file({ file_url: "https://a.test/a.pdf" })),
    ],
  ]),
  ...casesFromRows("openai-responses/file-data", openai, [
    [
      "audio in an output",
      "/input/2/output/0/file_data",
      returns(file({ file_data: "data:audio/mpeg;base64,SUQz" })),
      returns(file({ file_data: pdf })),
    ],
    [
      "bare base64",
      "/input/0/content/1/file_data",
      shows(file({ file_data: "JVBERi0xLjcK" })),
      shows(file({ file_data: "data:text/plain;base64,aGk=" })),
    ],
    [
      "not base64",
      "/input/0/content/1/file_data",
      shows(file({ file_data: "data:application/pdf;base64,***" })),
      shows(file({ file_data: pdf })),
    ],
  ]),
  ...casesFromRows("openai-responses/file-data", xai, [
    [
      "bytes where only references are taken",
      "/input/0/content/1/file_data",
      shows(file({ file_data: pdf })),
      shows(file({ file_url: "https://a.test/a.pdf" })),
    ],
  ]),
  ...casesFromRows("openai-responses/file-url", openai, [
    [
      "audio in a user message",
      "/input/0/content/1/file_url",
      shows(file({ file_url: "https://a.test/a.mp3" })),
      shows(file({ file_url: "https://a.test/a.pdf?from=a.mp3" })),
    ],
    [
      "a video in an output",
      "/input/2/output/0/file_url",
      returns(file({ file_url: "https://a.test/v.mp4?t=1" })),
      returns(file({ file_url: "https://a.test/v" })),
    ],
  ]),
  ...casesFromRows("openai-responses/long-content", openai, [
    [
      "an output over ten megabytes",
      "/input/2/output",
      ask([user(), call("call_1"), output("call_1", "a".repeat(10_485_761))]),
      ok,
    ],
  ]),
  ...casesFromRows("openai-responses/stored-image", xai, [
    ["an image in a stored request", "/input/0/content/1", shows(image()), shows(image(), { store: false })],
  ]),
];
