import {
  AccessDeniedException,
  BedrockRuntimeServiceException,
  ServiceUnavailableException,
  ThrottlingException,
  ValidationException,
} from "@aws-sdk/client-bedrock-runtime";
import { afterAll, beforeAll, describe, vi } from "vitest";
import { bedrockCases } from "../../src/rules/bedrock/rules.cases.ts";
import { awsKeys, openBedrock, openBedrockHttp1 } from "./bedrock.ts";
import type { SceneSetup } from "./run-scene.ts";
import { testSameRequests, testRefusals, testScene, testSeals, testFailures } from "./client-tests.ts";
import type { SceneServer } from "./server.ts";

// The client warns about the end of support for Node 20.
beforeAll(() => void vi.stubEnv("AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED", "true"));
afterAll(() => vi.unstubAllEnvs());

/** Differences between what Amazon's client sends and what Parley sends. */
const listed = {
  "~ /body/messages/1/content/0/reasoningContent/reasoningText/signature":
    "Made for a request whose fields stand in another order.",
  "- /body/messages/2/content/0/toolResult/status": "Parley says that a call went well; to leave it out says the same.",
  "- /body/messages/2/content/1/toolResult/status": "The same.",
};

const environment = ({ base }: SceneServer) => ({
  AWS_ENDPOINT_URL_BEDROCK_RUNTIME: base,
  AWS_ACCESS_KEY_ID: awsKeys.id,
  AWS_SECRET_ACCESS_KEY: awsKeys.secret,
  AWS_REGION: "us-east-1",
});

const is =
  (kind: abstract new (...given: never[]) => Error, status: number | undefined, words: string) =>
  (error: unknown): boolean =>
    error instanceof BedrockRuntimeServiceException &&
    error instanceof kind &&
    error.$metadata?.httpStatusCode === status &&
    error.message.includes(words);

describe.each([
  { protocol: "HTTP/2", open: openBedrock },
  { protocol: "HTTP/1.1", open: openBedrockHttp1 },
])("Amazon's client over $protocol, its signatures checked", ({ open }) => {
  const cast: SceneSetup = {
    provider: "bedrock",
    model: "us.anthropic.claude-sonnet-5-v1:0",
    open,
    awsSecret: awsKeys,
  };

  testScene({ ...cast, finish: ["tool_use", "end_turn"] });
  testSameRequests(cast, environment, listed);
  testSeals(cast, is(ValidationException, 400, "signature"));
  testFailures(cast, {
    "a wrong key": is(AccessDeniedException, 403, ""),
    "an unknown model": is(ValidationException, 400, "The provided model identifier is invalid."),
    "too many requests": is(ThrottlingException, 429, "Rate limit"),
    "an overloaded server": is(ServiceUnavailableException, 503, "Overloaded"),
    "an error inside a stream": is(ServiceUnavailableException, undefined, "Overloaded"),
  });
});

describe("Amazon's client with refused requests", () => {
  testRefusals({
    wire: "bedrock",
    cases: bedrockCases,
    open: () => openBedrock,
    isRefusal: (error, status, words) => is(ValidationException, status, words)(error),
    // The client decodes invalid base64 leniently and encodes it again.
    exceptions: { mended: ["bedrock/base64: a data URL as bytes"], unsent: [] },
    atLeast: 95,
  });
});
