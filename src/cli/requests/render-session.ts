import { destinationOf } from "../../providers/find.ts";
import { SessionError } from "../../session/error.ts";
import type { ReadSession } from "../../session/store/store.ts";
import type { RenderReport } from "../../transcript/incremental-renderer.ts";
import type { Arguments } from "../command.ts";
import { UserError } from "../user-error.ts";
import { printRequest, parseRequestArguments } from "./print-request.ts";
import { composeSessionRequest, sessionModel, type SessionRequestBody } from "../sessions/compose-request.ts";
import { sessionAtRequest, listRequests, type SessionRequest } from "../sessions/requests.ts";
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
    const made = await requestNumbered(session, number);
    const { to, options } = parseRequestArguments(args, made.model);
    const then = await sessionAtRequest(session, made);
    const account = accountOf(session, made);
    return printRequest(args, () =>
      withRequest(
        composeSessionRequest(then, to, { ...options, ...(account === undefined ? {} : { account }) }),
        made,
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

const requestNumbered = async (session: ReadSession, number: number): Promise<SessionRequest> => {
  const all = await listRequests(session);
  const made = all[number - 1];
  if (made !== undefined) return made;
  throw new UserError(
    all.length === 0
      ? `Session ${session.id} has no completed request.`
      : `Session ${session.id} has ${pluralize(all.length, "request")}; --turn must be from 1 to ${all.length}.`,
  );
};

const accountOf = ({ entries }: ReadSession, { entries: at }: SessionRequest): string | undefined => {
  const answer = entries[at];
  return answer?.type === "model" ? answer.origin.account : undefined;
};

/** The report with the recorded request. `asSent`: whether the printed conversation equals the sent one, byte for byte. */
type RequestReport = RenderReport & { readonly request: SessionRequest & { readonly asSent?: boolean } };

const withRequest = (
  { body, report, digest }: SessionRequestBody,
  made: SessionRequest,
  to: string,
): { readonly body: SessionRequestBody["body"]; readonly report: RequestReport } => {
  const { target } = destinationOf(to);
  const isSame = `${target.provider}/${target.model}` === made.model && made.digest !== undefined;
  return { body, report: { ...report, request: { ...made, ...(isSame ? { asSent: digest === made.digest } : {}) } } };
};
