import { bedrock as wire } from "../../wire/bedrock/encode.ts";
import { defineProvider, type Provider } from "../define.ts";
import {
  alternateTurns,
  inlineOnly,
  noThinking,
  officeTypes,
  pdfTypes,
  imageTypes,
  portableName,
  prefixedIds,
  strictTurns,
} from "../traits.ts";

const image = inlineOnly(imageTypes, { maxBytes: 3_750_000, perMessage: 20 });
const pdfDocument = inlineOnly(pdfTypes, { maxBytes: 4_500_000, perRequest: 5 });
const documents = inlineOnly([...pdfTypes, ...officeTypes], { maxBytes: 4_500_000, perRequest: 5 });
const video = inlineOnly(
  [
    "video/mp4",
    "video/quicktime",
    "video/x-matroska",
    "video/webm",
    "video/x-flv",
    "video/mpeg",
    "video/x-ms-wmv",
    "video/3gpp",
  ],
  { maxBytes: 18_000_000, perMessage: 1 },
);
const fromBuckets = { uri: ["s3://"] };

/** Amazon's Converse API, with models of many vendors. What one of them accepts, another refuses. */
export const bedrock: Provider = defineProvider({
  id: "bedrock",
  telemetryName: "aws.bedrock",
  label: "Amazon Bedrock",
  wire,
  endpoint: {
    url: "https://bedrock-runtime.{region}.amazonaws.com",
    paths: {
      generate: "/model/{model}/converse",
      stream: "/model/{model}/converse-stream",
      count: "/model/{model}/count-tokens",
      models: "https://bedrock.{region}.amazonaws.com/foundation-models",
    },
    env: [{ name: "AWS_ENDPOINT_URL_BEDROCK_RUNTIME" }, { name: "AWS_ENDPOINT_URL" }],
  },
  auth: { type: "aws" },
  defaultModel: "us.anthropic.claude-sonnet-5-v1:0",
  // Defaults for an unknown model: text, images in results, and strict turns.
  traits: {
    ids: prefixedIds("bedrock", "tooluse_", /^[A-Za-z0-9_-]{1,64}$/),
    toolName: portableName,
    media: { result: {}, errorResult: {}, user: { image: image }, model: {} },
    thinking: noThinking,
    order: strictTurns,
    namedKeys: true,
    callsLast: true,
    neutralNames: true,
    requiresTools: true,
    requiresThinkingInLoop: false,
  },
  dialect: {
    thinking: "none",
    signatures: false,
    plainKeys: false,
    status: true,
    toolChoice: "auto",
    sampling: true,
    cachePoints: "none",
  },
  families: [
    {
      match: /anthropic\.claude/,
      traits: {
        media: {
          // A PDF inside a result is accepted but not read; beside the results it is read. Office files are not allowed beside them.
          result: { image: image },
          user: { image: image, document: documents },
          after: { image: image, document: pdfDocument },
        },
        thinking: { form: "signed", readers: [], bound: false },
        order: alternateTurns,
      },
      dialect: { thinking: "adaptive", signatures: true, plainKeys: true, toolChoice: "all", cachePoints: "all" },
    },
    {
      match: /claude-(3|[a-z]+-4-[0-5]|[a-z]+-4-20)/,
      traits: { requiresThinkingInLoop: true },
      dialect: { thinking: "budget" },
    },
    { match: /claude-3-(?!7)/, dialect: { thinking: "none" } },
    { match: /claude-[a-z]+-(4-[7-9]|[5-9])/, dialect: { sampling: false, summaries: "with-thinking" } },
    { match: /claude-[a-z]+-[5-9]/, dialect: { summaries: "always" } },
    { match: /claude-((fable|mythos)-[5-9]|(opus|sonnet)-(5-[5-9]|[6-9]))/, dialect: { thinking: "always" } },
    { match: /claude-[a-z]+-(5-[1-9]|[6-9])/, traits: { thinking: { bound: true } } },
    {
      match: /claude-((fable|mythos)-5-[1-9]|(opus|sonnet)-5-[5-9]|(fable|mythos|opus|sonnet)-[6-9])/,
      dialect: { toolChoice: "auto" },
    },
    {
      match: /amazon\.nova/,
      traits: {
        media: {
          result: { image: { ...image, ...fromBuckets } },
          user: {
            image: { ...image, ...fromBuckets },
            document: { ...documents, ...fromBuckets },
            video: { ...video, ...fromBuckets },
          },
        },
        order: alternateTurns,
      },
      dialect: { toolChoice: "all", cachePoints: "text" },
    },
    { match: /amazon\.nova-micro/, traits: { media: { result: {}, user: {} } } },
    { match: /amazon\.nova-(2|[3-9])/, dialect: { thinking: "config" } },
    {
      match: /meta\.llama4/,
      traits: {
        media: { result: { image: image, document: pdfDocument }, user: { image: image, document: documents } },
      },
    },
    { match: /meta\.llama3/, traits: { media: { user: {} } } },
    { match: /mistral\./, traits: { media: { user: {} } }, dialect: { toolChoice: "all" } },
    {
      match: /mistral\.pixtral/,
      traits: { media: { result: { document: pdfDocument }, user: { image: image, document: documents } } },
    },
    { match: /writer\./, traits: { media: { user: {} } }, dialect: { status: false, toolChoice: "none" } },
    { match: /deepseek\.|openai\.gpt-oss|cohere\.|ai21\./, traits: { media: { user: {} } } },
    { match: /openai\.gpt-oss/, dialect: { thinking: "effort" } },
  ],
});
