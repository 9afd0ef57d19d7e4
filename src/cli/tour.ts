import { basename, relative } from "node:path";
import { lint } from "../rules/index.ts";
import { destinationOf, providers, renderRequest, type Provider } from "../providers/index.ts";
import type { Composed } from "../wire/compose.ts";
import type { Run } from "./commands.ts";
import { isRepair } from "./request.ts";
import { widest, widthsOf } from "./table.ts";
import { tourConversation } from "./tour-conversation.ts";

/** `parley tour`: one difficult conversation, rendered for every provider and checked. */
export const tour: Run = (given) => {
  const conversation = tourConversation();
  if (given.has("conversation")) {
    process.stdout.write(`${JSON.stringify(conversation, null, 2)}\n`);
    return 0;
  }
  const visits = providers.map((provider): Visit => {
    const composed = renderRequest(conversation, provider.id, { policy: { unsupportedMedia: "stub" } });
    return { provider, composed, errors: errorsIn(provider, composed) };
  });
  process.stdout.write([...story, "", ...table(visits), "", ...ending(visits), ""].join("\n"));
  return visits.some(({ errors }) => errors > 0) ? 1 : 0;
};

type Visit = { readonly provider: Provider; readonly composed: Composed; readonly errors: number };

const errorsIn = ({ id, wire, defaultModel }: Provider, { body }: Composed): number =>
  lint(body, { wire, provider: id, model: defaultModel }).filter(({ level }) => level === "error").length;

const story: readonly string[] = [
  "One conversation, held with Claude and left in disorder:",
  "",
  "  person  Why is the start page blank?",
  "  model   (thinks) reads index.html                      -> its text",
  "  model   reads five files at once                       -> one answered, four never did",
  "  person  Skip those. Check the network instead.",
  "  model   fetches two addresses                          -> both cancelled by the person",
  "  person  Then just look at the page.",
  "  model   takes a screenshot                             -> an image",
  "",
  "The same conversation as the next request to every provider, checked against its API's rules:",
];

const headings = ["provider/model", "wire", "msgs", "first id", "image", "repairs", "rules"];

const table = (visits: readonly Visit[]): readonly string[] => {
  const rows = [headings, ...visits.map(rowOf)];
  const widths = widthsOf(rows);
  const spare = widest - widths.reduce((sum, width) => sum + 2 + width, -2);
  if (spare < 0) widths[0] = Math.max(20, widths[0]! + spare);
  return rows.map((row, index) => {
    const line = row.map((cell, column) => fit(cell, widths[column]!)).join("  ");
    return index === 0 ? line.trimEnd() : coloured(line.trimEnd(), visits[index - 1]!.errors > 0);
  });
};

const rowOf = ({ provider, composed: { body, report }, errors }: Visit): readonly string[] => [
  `${provider.id}/${provider.defaultModel}`,
  provider.wire,
  String(destinationOf(provider.id).wire.messagesIn(body).length),
  report.calls[0]?.id ?? "",
  imageDelivery(report),
  String(report.notes.filter(isRepair).length),
  errors === 0 ? "clean" : `${errors} refused`,
];

/** How the screenshot got there. */
const imageDelivery = ({ notes }: Composed["report"]): string =>
  notes.some(({ kind }) => kind === "media-stub")
    ? "named"
    : notes.some(({ kind }) => kind === "media-after")
      ? "after"
      : "inside";

const fit = (cell: string, width: number): string =>
  cell.length > width ? `${cell.slice(0, width - 3)}...` : cell.padEnd(width);

const coloured = (line: string, bad: boolean): string =>
  process.stdout.isTTY && !process.env["NO_COLOR"] && bad ? `\u001B[31m${line}\u001B[39m` : line;

const ending = (visits: readonly Visit[]): readonly string[] => {
  const parley = programName();
  const refused = visits.filter(({ errors }) => errors > 0).length;
  const [first] = visits;
  const moved = visits.find(({ composed }) => imageDelivery(composed.report) === "after") ?? first;
  return [
    "image: inside its result, after the results, or only named where the model takes none.",
    refused === 0
      ? `All ${visits.length} bodies are clean.`
      : `${refused} of ${visits.length} bodies would be refused.`,
    "",
    "Try it:",
    `  ${parley} tour --conversation > talk.json`,
    `  ${parley} render talk.json --for ${moved?.provider.id} --explain`,
    `  ${parley} render talk.json --for ${first?.provider.id} | ${parley} lint - --for ${first?.provider.id}`,
  ];
};

/** The program as the person can call it from here. */
const programName = (): string => {
  const script = process.argv[1] ?? "parley";
  if (!basename(script).endsWith(".js")) return "parley";
  const path = relative(process.cwd(), script);
  return `node ${/^[\w./-]+$/.test(path) ? path : `"${path}"`}`;
};
