import type { RuleCase } from "../rule.cases.ts";
import {
  assistant,
  call,
  calls,
  chat,
  exchange,
  file,
  image,
  ok,
  okExchange,
  reasoned,
  result,
  text,
  user,
} from "./bodies.cases.ts";
import { at, deepseek, groq, kimi, local, mistral, openai } from "./targets.cases.ts";
import { pdf, png, casesFromRows, sound } from "../openai/rows.cases.ts";

const audio = at("openai-chat", "gpt-audio");
const heard = (given: unknown): unknown => chat([user([text(), { type: "input_audio", input_audio: given }])]);

/** Cases for what a message may contain, and how media is encoded. */
export const chatMediaCases: readonly RuleCase[] = [
  ...casesFromRows("openai-chat/tool-media", openai, [
    [
      "an image in a result",
      "/messages/2/content/0",
      chat([user(), calls(call("call_1")), result("call_1", [image()])]),
      chat([user(), calls(call("call_1")), result("call_1", [text(), text()]), user([image()])]),
    ],
    [
      "a document in a result",
      "/messages/2/content/1",
      chat([user(), calls(call("call_1")), result("call_1", [text(), file({ file_data: pdf })])]),
      okExchange,
    ],
    [
      "audio in a result",
      "/messages/2/content/0",
      chat([
        user(),
        calls(call("call_1")),
        result("call_1", [{ type: "input_audio", input_audio: { data: sound, format: "wav" } }]),
      ]),
      okExchange,
    ],
  ]),
  ...casesFromRows("openai-chat/tool-media", deepseek, [
    [
      "an image for a text-only model",
      "/messages/2/content/0",
      chat([user(), { ...calls(call("call_1")), ...reasoned }, result("call_1", [image()])]),
      chat(exchange("call_1", reasoned)),
    ],
  ]),
  ...casesFromRows("openai-chat/tool-media", kimi, [
    [
      "a document in a result",
      "/messages/2/content/0",
      chat([user(), { ...calls(call("call_1")), ...reasoned }, result("call_1", [file({ file_id: "f" })])]),
      chat([
        user(),
        { ...calls(call("call_1")), ...reasoned },
        result("call_1", [image(), { type: "video_url", video_url: { url: "ms://1" } }]),
      ]),
    ],
  ]),
  ...casesFromRows("openai-chat/tool-media-unproven", groq, [
    [
      "an image in a result",
      "/messages/2/content/0",
      chat([user(), calls(call("call_1")), result("call_1", [image()])]),
      chat([user(), calls(call("call_1")), result("call_1", [text()])]),
    ],
  ]),
  ...casesFromRows("openai-chat/tool-media-unproven", at("xai", "grok-4"), [
    [
      "an image in a result",
      "/messages/2/content/0",
      chat([user(), calls(call("call_1")), result("call_1", [image()])]),
      okExchange,
    ],
  ]),
  ...casesFromRows("openai-chat/media-role", openai, [
    [
      "an image in an assistant message",
      "/messages/1/content/0",
      chat([user(), assistant([image()]), user()]),
      chat([user(), assistant([text()]), user([image()])]),
    ],
    [
      "an image in the instructions",
      "/messages/0/content/0",
      chat([{ role: "system", content: [image()] }, user()]),
      ok,
    ],
  ]),
  ...casesFromRows("openai-chat/media-role", groq, [
    [
      "an image in an assistant message",
      "/messages/1/content/0",
      chat([user(), assistant([image()]), user()]),
      chat([user(), assistant("x"), user()]),
    ],
  ]),
  ...casesFromRows("openai-chat/user-part", openai, [
    [
      "a film",
      "/messages/0/content/0",
      chat([user([{ type: "video_url", video_url: { url: "https://a.test/v.mp4" } }])]),
      chat([user([image("https://a.test/i.png")])]),
    ],
  ]),
  ...casesFromRows("openai-chat/user-part", at("azure", "gpt-4o"), [
    ["a file", "/messages/0/content/0", chat([user([file({ file_data: pdf })])]), chat([user([image()])])],
  ]),
  ...casesFromRows("openai-chat/user-part", groq, [
    ["a file", "/messages/0/content/0", chat([user([file({ file_data: pdf })])]), chat([user([image()])])],
  ]),
  ...casesFromRows("openai-chat/user-part", kimi, [
    [
      "a file",
      "/messages/0/content/0",
      chat([user([file({ file_data: pdf })])]),
      chat([user([{ type: "video_url", video_url: { url: "ms://1" } }])]),
    ],
  ]),
  ...casesFromRows("openai-chat/user-part", deepseek, [
    ["an old image after a model switch", "/messages/0/content/0", chat([user([image()])]), chat([user([text()])])],
  ]),
  ...casesFromRows("openai-chat/user-part", at("deepseek", "deepseek-v4-flash-vision-exp"), [
    [
      "an audio part",
      "/messages/0/content/0",
      chat([user([{ type: "input_audio", input_audio: {} }])]),
      chat([user([image()])]),
    ],
  ]),
  ...casesFromRows("openai-chat/user-part", mistral, [
    [
      "a film",
      "/messages/0/content/0",
      chat([user([{ type: "video_url", video_url: { url: "https://a.test/v.mp4" } }])]),
      chat([user([{ type: "document_url", document_url: pdf }])]),
    ],
  ]),
  ...casesFromRows("openai-chat/audio-model", openai, [
    ["audio for a model without audio input", "/messages/0/content/1", heard({ data: sound, format: "wav" }), ok],
  ]),
  ...casesFromRows("openai-chat/image-model", at("openai-chat", "o3-mini"), [
    ["an image for a text-only model", "/messages/0/content/0", chat([user([image()])]), ok],
  ]),
  ...casesFromRows("openai-chat/image-url", openai, [
    [
      "a path",
      "/messages/0/content/0/image_url/url",
      chat([user([image("/tmp/a.png")])]),
      chat([user([image("https://a.test/a.png")])]),
    ],
    [
      "bare base64",
      "/messages/0/content/0/image_url/url",
      chat([user([image("iVBORw0KGgo=")])]),
      chat([user([image()])]),
    ],
    [
      "an upload of Kimi",
      "/messages/0/content/0/image_url/url",
      chat([user([image("ms://file-1")])]),
      chat([user([image()])]),
    ],
  ]),
  ...casesFromRows("openai-chat/image-url", kimi, [
    [
      "a file",
      "/messages/0/content/0/image_url/url",
      chat([user([image("file:///a.png")])]),
      chat([user([image("ms://file-1")])]),
    ],
  ]),
  ...casesFromRows("openai-chat/image-type", openai, [
    [
      "a document declared as an image",
      "/messages/0/content/0/image_url/url",
      chat([user([image(pdf)])]),
      chat([user([image()])]),
    ],
    [
      "an SVG image",
      "/messages/0/content/0/image_url/url",
      chat([user([image("data:image/svg+xml;base64,PHN2Zy8+")])]),
      chat([user([image("data:image/webp;base64,UklGRg==")])]),
    ],
  ]),
  ...casesFromRows("openai-chat/image-data", openai, [
    [
      "prose after the comma",
      "/messages/0/content/0/image_url/url",
      chat([user([image("data:image/png;base64,[image cut out]")])]),
      chat([user([image()])]),
    ],
    [
      "nothing after the comma",
      "/messages/0/content/0/image_url/url",
      chat([user([image("data:image/png;base64,")])]),
      chat([user([image()])]),
    ],
    [
      "no base64",
      "/messages/0/content/0/image_url/url",
      chat([user([image("data:image/png,abc")])]),
      chat([user([image()])]),
    ],
  ]),
  ...casesFromRows("openai-chat/image-detail", openai, [
    [
      "an unknown detail",
      "/messages/0/content/0/image_url/detail",
      chat([user([{ type: "image_url", image_url: { url: png, detail: "ultra" } }])]),
      chat([user([{ type: "image_url", image_url: { url: png, detail: "low" } }])]),
    ],
  ]),
  ...casesFromRows("openai-chat/remote-image", local, [
    [
      "a URL",
      "/messages/0/content/0/image_url/url",
      chat([user([image("https://a.test/a.png")])]),
      chat([user([image()])]),
    ],
  ]),
  ...casesFromRows("openai-chat/file-source", openai, [
    [
      "a file without data",
      "/messages/0/content/0/file",
      chat([user([file({ filename: "a.pdf" })])]),
      chat([user([file({ file_id: "file-1" })])]),
    ],
    [
      "a URL",
      "/messages/0/content/0/file/file_url",
      chat([user([file({ file_url: "https://a.test/a.pdf" })])]),
      chat([user([file({ file_data: pdf })])]),
    ],
    [
      "no file at all",
      "/messages/0/content/0",
      chat([user([{ type: "file" }])]),
      chat([user([file({ file_id: "file-1" })])]),
    ],
  ]),
  ...casesFromRows("openai-chat/file-data", openai, [
    [
      "bare base64",
      "/messages/0/content/0/file/file_data",
      chat([user([file({ file_data: "JVBERi0xLjcK" })])]),
      chat([user([file({ file_data: pdf })])]),
    ],
    [
      "an audio part",
      "/messages/0/content/0/file/file_data",
      chat([user([file({ file_data: "data:audio/mpeg;base64,SUQz" })])]),
      chat([user([file({ file_data: pdf })])]),
    ],
  ]),
  ...casesFromRows("openai-chat/file-type", openai, [
    [
      "plain text",
      "/messages/0/content/0/file/file_data",
      chat([user([file({ file_data: "data:text/plain;base64,aGk=" })])]),
      chat([user([file({ file_data: pdf })])]),
    ],
  ]),
  ...casesFromRows("openai-chat/audio-data", audio, [
    [
      "a format of another vendor",
      "/messages/0/content/1/input_audio/format",
      heard({ data: sound, format: "ogg" }),
      heard({ data: sound, format: "wav" }),
    ],
    [
      "a data URL",
      "/messages/0/content/1/input_audio/data",
      heard({ data: `data:audio/wav;base64,${sound}`, format: "wav" }),
      heard({ data: sound, format: "mp3" }),
    ],
  ]),
  ...casesFromRows("openai-chat/tool-content-text", local, [
    [
      "a list in a result",
      "/messages/2/content",
      chat([user(), calls(call("call_1")), result("call_1", [text()])]),
      okExchange,
    ],
  ]),
  ...casesFromRows("openai-chat/long-text", openai, [
    ["ten megabytes and one letter", "/messages/0/content", chat([user("a".repeat(10_485_761))]), ok],
  ]),
];
