import { destinationOf } from "../../providers/find.ts";
import type { ModelInput } from "../../providers/model-input.ts";
import type { RequestOptions } from "../../providers/request.ts";
import { exportConversation } from "../../session/export/conversation.ts";
import type { ReadSession } from "../../session/store/store.ts";
import { RequestComposer, type ComposedRequest } from "../../wire/compose.ts";

/** A request body for a session, with the digest to compare it with the one that was sent. */
export type SessionRequestBody = ComposedRequest & { readonly digest: string };

/** Composes the request of a session for a model, with the account that applied then: some thinking is readable only by it. */
export const composeSessionRequest = (
  session: ReadSession,
  to: string,
  { input, ...options }: SessionRequestOptions,
): SessionRequestBody => {
  const { system, tools, entries, blobs } = exportConversation(session);
  const account = options.account ?? lastAccount(session, to);
  const { provider, model } = destinationOf(to).target;
  const composer = new RequestComposer({
    destination: destinationOf(to, account, input ?? session.inputs?.[`${provider}/${model}`]),
    system,
    tools,
    blobs,
    ...(options.policy === undefined ? {} : { policy: options.policy }),
  });
  composer.add(entries);
  return { ...composer.compose(options.settings), digest: composer.digest() };
};

/** Request options; `input` overrides the media support the session recorded for the model. */
type SessionRequestOptions = RequestOptions & { readonly input?: ModelInput | undefined };

/** Returns the model a session was last used with. */
export const sessionModel = ({ model }: Pick<ReadSession, "model">): string | undefined =>
  model === undefined ? undefined : `${model.provider}/${model.model}`;

/** Returns the account of the last response from this provider. */
const lastAccount = ({ entries }: ReadSession, to: string): string | undefined => {
  const [provider] = to.split("/", 1);
  const last = entries.findLast((entry) => entry.type === "model" && entry.origin.provider === provider);
  return last?.type === "model" ? last.origin.account : undefined;
};
