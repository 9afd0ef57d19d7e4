import type { Note, NoteKind } from "../../conversation/notes.ts";
import { destinationOf } from "../../providers/find.ts";
import type { RequestOptions } from "../../providers/request.ts";
import { UnknownNameError } from "../../providers/unknown-name.ts";
import { UnsupportedMediaError } from "../../transcript/place.ts";
import type { RenderPolicy } from "../../transcript/target.ts";
import type { ComposedRequest } from "../../wire/compose.ts";
import type { Arguments } from "../command.ts";
import { UserError, usageError } from "../user-error.ts";

/** Parses target and options of a request. Called first, so that errors are reported before any input is read. */
export const parseRequestArguments = (
  args: Arguments,
  otherwise?: string,
): { readonly to: string; readonly options: RequestOptions } => {
  const to = args.value("for") ?? otherwise;
  if (to === undefined)
    throw usageError("Missing option --for PROVIDER/MODEL, the model that will receive the request.");
  withUserErrors(() => destinationOf(to));
  return { to, options: requestOptionsFrom(args) };
};

/** Creates a request, prints it as the options say, and prints a summary of its notes to stderr. Returns the exit code. */
export const printRequest = (args: Arguments, make: () => ComposedRequest): number => {
  const { body, report } = withUserErrors(make);
  if (args.has("json")) {
    process.stdout.write(formatJson({ body, report }, args));
    return 0;
  }
  process.stdout.write(formatJson(body, args));
  if (args.has("explain")) process.stderr.write(`${JSON.stringify(report, null, 2)}\n`);
  else {
    const summary = summarizeRepairs(report.notes);
    if (summary !== undefined) process.stderr.write(`parley: ${summary}; use --explain for details\n`);
  }
  return 0;
};

/** Returns one line on repairs and omissions, or undefined if there were none. */
const summarizeRepairs = (notes: readonly Note[]): string | undefined => {
  const counts = new Map<NoteKind, number>();
  for (const { kind } of notes.filter(isRepair)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  if (total === 0) return undefined;
  const list = [...counts].map(([kind, count]) => `${count} ${describeKind(kind, count)}`).join(", ");
  return `${total} ${total === 1 ? "repair" : "repairs"} (${list})`;
};

/** Whether a note is about more than the format of one API. */
const isRepair = ({ class: kindOfNote, kind }: Note): boolean => kindOfNote !== "projection" || lossyKinds.has(kind);

/** Projections that may lose something the caller asked for. */
const lossyKinds: ReadonlySet<NoteKind> = new Set<NoteKind>(["schema-adapted", "setting-adapted"]);

const pluralizable = /(?<!-as-)(argument|blob|field|id|message|part|result|step|stub|text|value)$/;

const describeKind = (kind: NoteKind, count: number): string =>
  (count > 1 ? kind.replace(pluralizable, "$1s") : kind).replaceAll("-", " ");

const requestOptionsFrom = (args: Arguments): RequestOptions => {
  const maxTokens = parseMaxTokens(args.value("max-tokens"));
  return {
    policy: {
      unsupportedMedia: (args.value("unsupported-media") ?? "stub") as RenderPolicy["unsupportedMedia"],
      thinking: (args.value("thinking") ?? "own") as RenderPolicy["thinking"],
      toolResponse: (args.value("tool-response") ?? "output") as RenderPolicy["toolResponse"],
    },
    ...(maxTokens === undefined ? {} : { settings: { maxTokens } }),
  };
};

const parseMaxTokens = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1)
    throw usageError(`--max-tokens must be a whole number of at least 1, not "${text}".`);
  return number;
};

const formatJson = (value: unknown, args: Arguments): string =>
  `${JSON.stringify(value, null, args.has("compact") ? undefined : 2)}\n`;

/** Converts errors of the library to `UserError`. */
const withUserErrors = <Made>(make: () => Made): Made => {
  try {
    return make();
  } catch (error) {
    if (error instanceof UnknownNameError) throw new UserError(error.message);
    if (error instanceof UnsupportedMediaError)
      throw new UserError(
        `${error.provider}/${error.model} cannot take ${error.kind} (${error.mimeType}) from ${error.tool === undefined ? "a message" : `a result of ${error.tool}`}. ` +
          "Use --unsupported-media stub to describe it to the model instead.",
        { code: 1 },
      );
    throw error;
  }
};
