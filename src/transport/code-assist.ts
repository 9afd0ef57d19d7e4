import { isObject, type JsonObject } from "../conversation/json.ts";
import type { HttpRequest } from "../world/net.ts";
import type { World } from "../world/world.ts";
import { askJson, fieldIn, textIn, type JsonAnswer } from "./credentials-http.ts";
import { AuthProblem } from "./credentials-key.ts";

/** What a Code Assist request says about itself besides what the model is to read. */
export type CodeAssistFacts = { readonly project: string; readonly promptId: string; readonly session: string };

/** Fills in who pays for a Code Assist request, and which prompt and session it belongs to. */
export const completeCodeAssist = (body: JsonObject, { project, promptId, session }: CodeAssistFacts): JsonObject => ({
  ...body,
  project,
  user_prompt_id: promptId,
  request: { ...requestIn(body), session_id: session },
});

/** The question how many tokens a Code Assist request has. Only the messages are counted there. */
export const countCodeAssist = (body: JsonObject): JsonObject => ({
  request: { model: `models/${textIn(body, "model") ?? ""}`, contents: requestIn(body)["contents"] ?? [] },
});

const requestIn = (body: JsonObject): JsonObject => (isObject(body["request"]) ? (body["request"] as JsonObject) : {});

/** Sends a signed request to Code Assist's own methods; `method` is such as `loadCodeAssist`. */
export type CodeAssistDesk = {
  readonly world: Pick<World, "net" | "clock">;
  /** The address of a method, or of an operation under way. */
  readonly address: (method: string) => string;
  readonly authorize: (request: HttpRequest) => Promise<HttpRequest>;
};

/**
 * The project Google keeps for an account that has none of its own. An account
 * that was never here is enrolled first, which takes a while.
 */
export const findProject = async (desk: CodeAssistDesk): Promise<string> => {
  const loaded = await post(desk, ":loadCodeAssist", { metadata });
  const known = projectIn(loaded);
  if (known !== undefined) return known;
  if (fieldIn(loaded, "currentTier") !== undefined) throw ownProject();
  return enrol(desk, tierIn(loaded));
};

const metadata = { ideType: "IDE_UNSPECIFIED", platform: "PLATFORM_UNSPECIFIED", pluginType: "GEMINI" };

/** Some answers hold the project's id, others an object with it. */
const projectIn = (body: unknown): string | undefined =>
  textIn(body, "cloudaicompanionProject") ?? textIn(fieldIn(body, "cloudaicompanionProject"), "id");

const tierIn = (loaded: unknown): string => {
  const tiers = fieldIn(loaded, "allowedTiers");
  const usual = (Array.isArray(tiers) ? tiers : []).find((tier: unknown) => fieldIn(tier, "isDefault") === true);
  const id = textIn(usual, "id");
  if (id === undefined || fieldIn(usual, "userDefinedCloudaicompanionProject") === true) throw ownProject();
  return id;
};

const ownProject = (): AuthProblem =>
  new AuthProblem("no-key", "This account needs a project of its own. Set GOOGLE_CLOUD_PROJECT to its id.");

const pause = 5000;
const mostPauses = 24;

const enrol = async (desk: CodeAssistDesk, tierId: string): Promise<string> => {
  let operation = await post(desk, ":onboardUser", { tierId, metadata });
  for (let pauses = 0; fieldIn(operation, "done") !== true; pauses++) {
    if (pauses === mostPauses)
      throw new AuthProblem("bad-key", "Google did not finish enrolling this account. Try again later.");
    await desk.world.clock.sleep(pause);
    const name = textIn(operation, "name");
    operation =
      name === undefined || !/^[\w/-]+$/.test(name)
        ? await post(desk, ":onboardUser", { tierId, metadata })
        : await ask(desk, { method: "GET", url: desk.address(`/${name}`), headers: {} });
  }
  const project = projectIn(fieldIn(operation, "response"));
  if (project === undefined) throw ownProject();
  return project;
};

const post = (desk: CodeAssistDesk, method: string, body: JsonObject): Promise<unknown> =>
  ask(desk, {
    method: "POST",
    url: desk.address(method),
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

const ask = async (desk: CodeAssistDesk, request: HttpRequest): Promise<unknown> => {
  const answer: JsonAnswer = await askJson(desk.world, await desk.authorize(request));
  if (answer.status === 200) return answer.body;
  const status = textIn(fieldIn(answer.body, "error"), "status") ?? "";
  throw new AuthProblem(
    "bad-key",
    `Code Assist does not say which project pays (${/^[A-Z_]{1,40}$/.test(status) ? status : answer.status}).`,
  );
};
