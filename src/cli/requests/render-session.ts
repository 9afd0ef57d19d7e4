import { destinationOf } from "../../providers/find.ts";
import { SessionError } from "../../session/error.ts";
import type { ReadSession } from "../../session/store/store.ts";
import type { RenderReport } from "../../transcript/incremental-renderer.ts";
import type { Arguments } from "../command.ts";
import { UserError } from "../user-error.ts";
import { printRequest, parseRequestArguments } from "./print-request.ts";
import { composeSessionRequest, sessionModel, type SessionRequestBody } from "../sessions/compose-request.ts";
import { sessionAtRequest, listRequests, type SessionRequest } from "../../session/store/requests.ts";
import { openSessionsContext, withUserErrors, readSession } from "../sessions/context.ts";
import { pluralize, countOption } from "../format.ts";

/** Renders a session as it is now, or as of one of its requests (`--turn`). Without `--for`, for its own model. */
export const renderSession = (args: Arguments, id: string): Promise<number> =>
  withUserErrors(async () => {
    const number = countOption(args, "turn");
    const session = await readSession(await openSessionsContext(), id).catch(withSessionHint(id));
    if (number === undefined) {
      const { to, options } = parseRequestArguments(args, sessionModel(session));
      return printRequest(args, () => composeSessionRequest(session, to, options));
    }
    const request = await findRequest(session, number);
    const { to, options } = parseRequestArguments(args, request.model);
    const earlierSession = await sessionAtRequest(session, request);
    const account = accountOf(session, request);
    return printRequest(args, () =>
      withRequest(
        composeSessionRequest(earlierSession, to, { ...options, ...(account === undefined ? {} : { account }) }),
        request,
        to,
      ),
    );
  });

const withSessionHint =
  (id: string) =>
  (error: unknown): never => {
    if (error instanceof SessionError && error.failure.kind === "not-found")
      throw new UserError(`No file ${id}, and no session whose id starts with it. See parley sessions list --all.`);
    throw error;
  };

const findRequest = async (session: ReadSession, number: number): Promise<SessionRequest> => {
  const all = await listRequests(session);
  const request = all[number - 1];
  if (request !== undefined) return request;
  throw new UserError(
    all.length === 0
      ? `Session ${session.id} has no completed request.`
      : `Session ${session.id} has ${pluralize(all.length, "request")}; --turn must be from 1 to ${all.length}.`,
  );
};

const accountOf = ({ entries }: ReadSession, { entries: entryCount }: SessionRequest): string | undefined => {
  const response = entries[entryCount];
  return response?.type === "model" ? response.origin.account : undefined;
};

/** The report with the recorded request. `asSent`: whether the printed conversation equals the sent one, byte for byte. */
type RequestReport = RenderReport & { readonly request: SessionRequest & { readonly asSent?: boolean } };

const withRequest = (
  { body, report, digest }: SessionRequestBody,
  request: SessionRequest,
  to: string,
): { readonly body: SessionRequestBody["body"]; readonly report: RequestReport } => {
  const { target } = destinationOf(to);
  const isSame = `${target.provider}/${target.model}` === request.model && request.digest !== undefined;
  return {
    body,
    report: { ...report, request: { ...request, ...(isSame ? { asSent: digest === request.digest } : {}) } },
  };
};
