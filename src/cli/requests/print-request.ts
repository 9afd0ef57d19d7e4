import type { Note, NoteKind } from "../../conversation/notes.ts";
import { destinationOf } from "../../providers/find.ts";
import type { RequestOptions } from "../../providers/request.ts";
import { UnknownNameError } from "../../providers/unknown-name.ts";
import { UnsupportedMediaError } from "../../transcript/place.ts";
import type { RenderPolicy } from "../../transcript/target.ts";
import type { ComposedRequest } from "../../wire/compose.ts";
import type { Arguments } from "../parse-arguments.ts";
import { UserError, usageError } from "../user-error.ts";

/** Where the request goes and how it is made. Asked for first, so that a mistake is told before anything is read. */
export const parseRequestArguments = (
  given: Arguments,
  otherwise?: string,
): { readonly to: string; readonly options: RequestOptions } => {
  const to = given.value("for") ?? otherwise;
  if (to === undefined) throw usageError("Say which model will receive it: --for PROVIDER/MODEL.");
  withUserErrors(() => destinationOf(to));
  return { to, options: requestOptionsFrom(given) };
};

/** Makes a request, prints it as asked, and says what was decided. Answers the exit code. */
export const printRequest = (given: Arguments, make: () => ComposedRequest): number => {
  const { body, report } = withUserErrors(make);
  if (given.has("json")) {
    process.stdout.write(formatJson({ body, report }, given));
    return 0;
  }
  process.stdout.write(formatJson(body, given));
  if (given.has("explain")) process.stderr.write(`${JSON.stringify(report, null, 2)}\n`);
  else {
    const summary = summarizeRepairs(report.notes);
    if (summary !== undefined) process.stderr.write(`parley: ${summary}; --explain shows them\n`);
  }
  return 0;
};

/** One line on what was repaired or left out, or undefined when nothing was. */
const summarizeRepairs = (notes: readonly Note[]): string | undefined => {
  const counts = new Map<NoteKind, number>();
  for (const { kind } of notes.filter(isRepair)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  if (total === 0) return undefined;
  const list = [...counts].map(([kind, count]) => `${count} ${describeKind(kind, count)}`).join(", ");
  return `${total} ${total === 1 ? "repair" : "repairs"} (${list})`;
};

/** Whether a decision changed more than the spelling of one API. */
const isRepair = ({ class: kindOfNote, kind }: Note): boolean => kindOfNote !== "projection" || lossyKinds.has(kind);

/** Projections that may cost the caller something that was asked for. */
const lossyKinds: ReadonlySet<NoteKind> = new Set<NoteKind>(["schema-adapted", "setting-adapted"]);

const pluralizable = /(?<!-as-)(argument|blob|field|id|message|part|result|step|stub|text|value)$/;

const describeKind = (kind: NoteKind, count: number): string =>
  (count > 1 ? kind.replace(pluralizable, "$1s") : kind).replaceAll("-", " ");

const requestOptionsFrom = (given: Arguments): RequestOptions => {
  const maxTokens = maxTokensOf(given.value("max-tokens"));
  return {
    policy: {
      unsupportedMedia: (given.value("unsupported-media") ?? "stub") as RenderPolicy["unsupportedMedia"],
      thinking: (given.value("thinking") ?? "own") as RenderPolicy["thinking"],
      toolResponse: (given.value("tool-response") ?? "output") as RenderPolicy["toolResponse"],
    },
    ...(maxTokens === undefined ? {} : { settings: { maxTokens } }),
  };
};

const maxTokensOf = (given: string | undefined): number | undefined => {
  if (given === undefined) return undefined;
  const number = Number(given);
  if (!Number.isSafeInteger(number) || number < 1)
    throw usageError(`--max-tokens is a whole number of at least 1; it was given as "${given}".`);
  return number;
};

const formatJson = (value: unknown, given: Arguments): string =>
  `${JSON.stringify(value, null, given.has("compact") ? undefined : 2)}\n`;

/** What the library refuses, in the words of the command line. */
const withUserErrors = <Made>(make: () => Made): Made => {
  try {
    return make();
  } catch (error) {
    if (error instanceof UnknownNameError) throw new UserError(error.message);
    if (error instanceof UnsupportedMediaError)
      throw new UserError(
        `${error.provider}/${error.model} cannot take ${error.kind} (${error.mimeType}) from ${error.tool === undefined ? "a message" : `a result of ${error.tool}`}. ` +
          "With --unsupported-media stub it is named to the model instead.",
        { code: 1 },
      );
    throw error;
  }
};
