import { destinationOf } from "../providers/find.ts";
import { SessionError } from "../session/error.ts";
import type { ReadSession } from "../session/store.ts";
import type { Report } from "../transcript/rendering.ts";
import type { Arguments } from "./arguments.ts";
import { Failure } from "./failure.ts";
import { printRequest, requestWanted } from "./request.ts";
import { composedFor, modelOf, type SessionBody } from "./session-render.ts";
import { asOfRequest, requestsIn, type MadeRequest } from "./session-requests.ts";
import { openStore, readably, readNamed } from "./session-store.ts";
import { counted, countOf } from "./session-words.ts";

/** Renders a session as it is now, or as one of its requests had it. Without `--for`, for the model it was held with. */
export const renderSession = (given: Arguments, id: string): Promise<number> =>
  readably(async () => {
    const number = countOf(given, "turn");
    const session = await readNamed(await openStore(), id).catch(explained(id));
    if (number === undefined) {
      const { to, options } = requestWanted(given, modelOf(session));
      return printRequest(given, () => composedFor(session, to, options));
    }
    const made = await madeBy(session, number);
    const { to, options } = requestWanted(given, made.model);
    const then = await asOfRequest(session, made);
    const account = accountOf(session, made);
    return printRequest(given, () =>
      withRequest(composedFor(then, to, { ...options, ...(account === undefined ? {} : { account }) }), made, to),
    );
  });

const explained =
  (id: string) =>
  (error: unknown): never => {
    if (error instanceof SessionError && error.failure.kind === "not-found")
      throw new Failure(`There is no file ${id}, and no session that begins so. See parley sessions list --all.`);
    throw error;
  };

const madeBy = async (session: ReadSession, number: number): Promise<MadeRequest> => {
  const all = await requestsIn(session);
  const made = all[number - 1];
  if (made !== undefined) return made;
  throw new Failure(
    all.length === 0
      ? `Session ${session.id} made no request that was answered.`
      : `Session ${session.id} made ${counted(all.length, "request")}; --turn goes from 1 to ${all.length}.`,
  );
};

const accountOf = ({ entries }: ReadSession, { entries: at }: MadeRequest): string | undefined => {
  const answer = entries[at];
  return answer?.type === "model" ? answer.origin.account : undefined;
};

/** What is known of the request that was sent. `asSent`: its conversation was, byte for byte, what is printed here. */
type RequestReport = Report & { readonly request: MadeRequest & { readonly asSent?: boolean } };

const withRequest = (
  { body, report, digest }: SessionBody,
  made: MadeRequest,
  to: string,
): { readonly body: SessionBody["body"]; readonly report: RequestReport } => {
  const { target } = destinationOf(to);
  const isSame = `${target.provider}/${target.model}` === made.model && made.digest !== undefined;
  return { body, report: { ...report, request: { ...made, ...(isSame ? { asSent: digest === made.digest } : {}) } } };
};
