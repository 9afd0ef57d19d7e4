import { bodyText, NetError, type HttpRequest, type HttpResponse } from "../world/net.ts";
import type { Clock } from "../world/world.ts";
import type { BoundWire } from "../wire/bind.ts";
import type { Problem } from "../wire/decode.ts";
import { classify, type Verdict, type Who } from "./classify.ts";
import { jsonOf } from "./credentials-http.ts";
import type { Failure } from "./failure.ts";
import { MalformedStream } from "./frames.ts";
import { retryHints } from "./hints.ts";
import { secretsIn, withoutSecrets } from "./secrets.ts";
import { phaseNames, Silence } from "./watchdog.ts";

/** One attempt went wrong. `problem` is what the server said, where it said something. */
export class AttemptError extends Error {
  readonly verdict: Verdict;
  readonly problem: Problem | undefined;

  constructor(verdict: Verdict, { problem, cause }: { problem?: Problem; cause?: unknown } = {}) {
    super(verdict.failure.kind, { cause });
    this.verdict = verdict;
    this.problem = problem;
  }
}

/** Who refused, in which manner of speaking, and the clock their dates are read by. */
export type Refuser = { readonly wire: BoundWire; readonly who: Who; readonly clock: Pick<Clock, "now"> };

/** What an answer that is no success means; undefined for a success. Reads the body of a refusal to its end. */
export const refusalIn = async (response: HttpResponse, from: Refuser): Promise<AttemptError | undefined> => {
  const { status, headers } = response;
  const { wire, who, clock } = from;
  if (status >= 200 && status < 300) return undefined;
  if (status >= 300 && status < 400) return redirected(who, response);
  const text = await bodyText(response, 2 ** 20);
  const body = jsonOf(text);
  const problem = (body === undefined ? undefined : wire.decode.problem(body)) ?? { message: plainWords(text, status) };
  const reported = { status, hints: retryHints(headers, clock.now()), problem: withExceptionName(problem, response) };
  return new AttemptError(classify(who, reported), reported);
};

/** What a broken connection, a silence or an unreadable answer means; anything else is passed on as it is. */
export const asAttemptError = (error: unknown, who: Who, request: HttpRequest): unknown => {
  const again = (failure: Failure): AttemptError =>
    new AttemptError({ failure, retry: true, floor: 0 }, { cause: error });
  // Another hour would hardly help.
  if (error instanceof Silence && error.phase === "whole")
    return new AttemptError(
      { failure: { ...who, kind: "time-out", phase: "whole", ms: error.ms }, retry: false, floor: 0 },
      { cause: error },
    );
  if (error instanceof Silence)
    return again({ ...who, kind: "time-out", phase: phaseNames[error.phase], ms: error.ms });
  if (error instanceof MalformedStream) return again({ ...who, kind: "malformed-stream", said: error.message });
  if (!(error instanceof NetError)) return error;
  if (error.isLasting)
    return new AttemptError(
      {
        failure: { ...who, kind: "network", host: new URL(request.url).host, said: error.message },
        retry: false,
        floor: 0,
      },
      { cause: error },
    );
  if (error.at === "connect")
    return again({ ...who, kind: "network", host: new URL(request.url).host, said: error.message });
  return again({ ...who, kind: "stream-cut", ...(error.message === "" ? {} : { said: error.message }) });
};

/** The same error with nothing in it that the request had to keep secret: some servers quote the key they refuse. */
export const withoutSecretsIn = (error: AttemptError, request: HttpRequest): AttemptError => {
  const secrets = secretsIn(request.headers);
  const { verdict, problem, cause } = error;
  const { said } = verdict.failure;
  if (said === undefined) return error;
  const failure: Failure = { ...verdict.failure, said: withoutSecrets(said, secrets) };
  return new AttemptError({ ...verdict, failure }, { ...(problem === undefined ? {} : { problem }), cause });
};

/** Amazon names the exception in a header. */
const withExceptionName = (problem: Problem, { headers }: HttpResponse): Problem => {
  const name = headers["x-amzn-errortype"]?.split(":")[0];
  return name === undefined || name === "" || problem.code !== undefined ? problem : { ...problem, code: name };
};

/** What to quote of an error that is no JSON: short text, but no web page. */
const plainWords = (text: string, status: number): string => {
  const words = text.trim();
  return words === "" || words.startsWith("<") ? `status ${status}` : words.slice(0, 300);
};

const redirected = (who: Who, { status, headers }: HttpResponse): AttemptError => {
  const to = URL.canParse(headers["location"] ?? "") ? new URL(headers["location"] ?? "").host : "elsewhere";
  const said = `It points to ${to}, and a request with a key in it is not sent on`;
  return new AttemptError({ failure: { ...who, kind: "refused", status, said, rules: [] }, retry: false, floor: 0 });
};
