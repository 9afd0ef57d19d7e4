import { isObject, type JsonObject } from "../../conversation/json.ts";
import type { HttpRequest } from "../../world/net.ts";
import type { World } from "../../world/world.ts";
import { requestJson, getField, getText, type JsonResponse } from "./http.ts";
import { AuthError } from "./api-key.ts";

/** Metadata of a Code Assist request. */
export type CodeAssistMetadata = { readonly project: string; readonly promptId: string; readonly session: string };

/** Adds the project to charge, the prompt id and the session id to a Code Assist request. */
export const addCodeAssistMetadata = (
  body: JsonObject,
  { project, promptId, session }: CodeAssistMetadata,
): JsonObject => ({
  ...body,
  project,
  user_prompt_id: promptId,
  request: { ...requestIn(body), session_id: session },
});

/** Builds the token-count request for a Code Assist body. Only the messages are counted there. */
export const codeAssistCountRequest = (body: JsonObject): JsonObject => ({
  request: { model: `models/${getText(body, "model") ?? ""}`, contents: requestIn(body)["contents"] ?? [] },
});

const requestIn = (body: JsonObject): JsonObject => (isObject(body["request"]) ? (body["request"] as JsonObject) : {});

/** Sends signed requests to Code Assist's own methods, such as `loadCodeAssist`. */
export type CodeAssistClient = {
  readonly world: Pick<World, "net" | "clock">;
  /** The URL of a method, or of a pending operation. */
  readonly address: (method: string) => string;
  readonly authorize: (request: HttpRequest) => Promise<HttpRequest>;
};

/** Finds the project Google manages for an account without its own. A new account is onboarded first, which takes a while. */
export const findProject = async (desk: CodeAssistClient): Promise<string> => {
  const loaded = await post(desk, ":loadCodeAssist", { metadata });
  const known = projectIn(loaded);
  if (known !== undefined) return known;
  if (getField(loaded, "currentTier") !== undefined) throw projectRequiredError();
  return onboardAccount(desk, tierIn(loaded));
};

const metadata = { ideType: "IDE_UNSPECIFIED", platform: "PLATFORM_UNSPECIFIED", pluginType: "GEMINI" };

/** Some responses contain the project's id, others an object with it. */
const projectIn = (body: unknown): string | undefined =>
  getText(body, "cloudaicompanionProject") ?? getText(getField(body, "cloudaicompanionProject"), "id");

const tierIn = (loaded: unknown): string => {
  const tiers = getField(loaded, "allowedTiers");
  const usual = (Array.isArray(tiers) ? tiers : []).find((tier: unknown) => getField(tier, "isDefault") === true);
  const id = getText(usual, "id");
  if (id === undefined || getField(usual, "userDefinedCloudaicompanionProject") === true) throw projectRequiredError();
  return id;
};

const projectRequiredError = (): AuthError =>
  new AuthError("no-key", "This account needs a project of its own. Set GOOGLE_CLOUD_PROJECT to its id.");

const pollDelay = 5000;
const maxPolls = 24;

const onboardAccount = async (desk: CodeAssistClient, tierId: string): Promise<string> => {
  let operation = await post(desk, ":onboardUser", { tierId, metadata });
  for (let pauses = 0; getField(operation, "done") !== true; pauses++) {
    if (pauses === maxPolls)
      throw new AuthError("bad-key", "Google did not finish enrolling this account. Try again later.");
    await desk.world.clock.sleep(pollDelay);
    const name = getText(operation, "name");
    operation =
      name === undefined || !/^[\w/-]+$/.test(name)
        ? await post(desk, ":onboardUser", { tierId, metadata })
        : await sendRequest(desk, { method: "GET", url: desk.address(`/${name}`), headers: {} });
  }
  const project = projectIn(getField(operation, "response"));
  if (project === undefined) throw projectRequiredError();
  return project;
};

const post = (desk: CodeAssistClient, method: string, body: JsonObject): Promise<unknown> =>
  sendRequest(desk, {
    method: "POST",
    url: desk.address(method),
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

const sendRequest = async (desk: CodeAssistClient, request: HttpRequest): Promise<unknown> => {
  const answer: JsonResponse = await requestJson(desk.world, await desk.authorize(request));
  if (answer.status === 200) return answer.body;
  const status = getText(getField(answer.body, "error"), "status") ?? "";
  throw new AuthError(
    "bad-key",
    `Code Assist does not say which project pays (${/^[A-Z_]{1,40}$/.test(status) ? status : answer.status}).`,
  );
};
