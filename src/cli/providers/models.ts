import { providers } from "../../providers/all.ts";
import type { Provider } from "../../providers/define.ts";
import { findProvider } from "../../providers/find.ts";
import {
  factsDate,
  findCatalogueRow,
  findModelFacts,
  listModelFacts,
  type ModelFacts,
} from "../../providers/models.ts";
import type { CredentialStatus } from "../../transport/credentials/api-key.ts";
import { explainFailure, ProviderError } from "../../transport/failure.ts";
import { listModels, type ListedModel } from "../../transport/queries/list-models.ts";
import type { World } from "../../world/world.ts";
import type { CommandHandler } from "../command.ts";
import { findProviderCredentials, findNamedProvider, loadProviderWorld } from "./credentials.ts";
import { withProgress } from "../progress.ts";
import { alignColumns, sanitizeLine, maxWidth } from "../text-table.ts";

/** `parley models`: lists known models; with `--provider`, those the provider lists now. */
export const models: CommandHandler = async (args) => {
  const world = await loadProviderWorld();
  const named = args.value("provider");
  const groups =
    named === undefined ? await listKnownModels(world) : [await queryProvider(findNamedProvider(named), world)];
  for (const { note } of groups) if (note !== undefined) process.stderr.write(`parley: ${sanitizeLine(note)}\n`);
  process.stdout.write(
    args.has("json") ? `${JSON.stringify({ asOf: factsDate, providers: groups }, null, 2)}\n` : formatModels(groups),
  );
  return 0;
};

/** A provider with its models, as `--json` prints it. */
type ProviderModels = {
  readonly id: string;
  readonly label: string;
  readonly credentials: CredentialStatus;
  /** Whether the provider was queried. */
  readonly queried: boolean;
  /** Why it was not queried, or why that failed. */
  readonly note?: string;
  readonly models: readonly ModelRow[];
};

/** A model. `known`: in the catalogue. `listed`: its provider lists it now; absent if not queried. */
type ModelRow = Partial<Omit<ModelFacts, "provider" | "known">> & {
  readonly id: string;
  readonly label?: string;
  readonly known: boolean;
  readonly listed?: boolean;
};

const listKnownModels = async (world: World): Promise<readonly ProviderModels[]> => {
  const groups = await Promise.all(
    providers.map(async ({ id, label }): Promise<ProviderModels> => {
      const credentials = await findProviderCredentials(findProvider(id), world);
      return { id, label, credentials, queried: false, models: listModelFacts(id).map(rowOf) };
    }),
  );
  return groups.toSorted((one, other) => rankOf(one) - rankOf(other));
};

const rankOf = ({ credentials }: ProviderModels): number =>
  !credentials.found ? 2 : credentials.kind === "none" ? 1 : 0;

const queryProvider = async (provider: Provider, world: World): Promise<ProviderModels> => {
  const { id, label } = provider;
  const credentials = await findProviderCredentials(provider, world);
  const known = listModelFacts(id).map(rowOf);
  const withoutQuery = (reason: string): ProviderModels => ({
    id,
    label,
    credentials,
    queried: false,
    note: `${reason} Showing the models known on ${factsDate}.`,
    models: known,
  });
  if (provider.endpoint.paths.models === undefined) return withoutQuery(`${label} does not list its models.`);
  if (!credentials.found) return withoutQuery(`${label} was not queried. ${credentials.how}`);
  try {
    const listed = await withProgress(`Asking ${label}`, () => listModels(provider, world));
    return { id, label, credentials, queried: true, models: mergeModels(id, listed, known) };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return withoutQuery(explainFailure(error.failure));
  }
};

/** Returns catalogue facts, without the defaults for unpublished values. */
const rowOf = ({ provider, id, known, context, maxOutput, input, reasoning, price }: ModelFacts): ModelRow => {
  const [, knownContext, knownOutput] = findCatalogueRow(provider, id) ?? [];
  return {
    id,
    known,
    ...(typeof knownContext === "number" ? { context } : {}),
    ...(typeof knownOutput === "number" ? { maxOutput } : {}),
    input,
    reasoning,
    ...(price === undefined ? {} : { price }),
  };
};

/** Merges the provider's list with the catalogue: listed models first, then known ones it does not list. */
const mergeModels = (
  provider: string,
  listed: readonly ListedModel[],
  known: readonly ModelRow[],
): readonly ModelRow[] => {
  const matched = new Set<string>();
  const rows = listed.map((model): ModelRow => {
    const { id: knownAs, ...facts } = rowOf(findModelFacts(provider, model.id));
    if (!facts.known) return { ...model, known: false, listed: true };
    matched.add(model.id).add(knownAs);
    return { ...facts, ...model, listed: true };
  });
  return [...rows, ...known.filter(({ id }) => !matched.has(id)).map((row) => ({ ...row, listed: false }))];
};

const formatModels = (groups: readonly ProviderModels[]): string => {
  const rows = groups.flatMap((group) => group.models);
  const cells = alignColumns([columnHeadings, ...rows.map(cellsOf)], { right: [1] });
  const [heading = "", ...lines] = rows.length === 0 ? [""] : cells;
  let at = 0;
  const body = groups.flatMap((group) => [
    "",
    groupHeading(group),
    ...group.models.flatMap((row) => rowLines(row, lines[at++] ?? "")),
  ]);
  return [heading.trimEnd(), ...body, "", ...legendLines(rows), ""].join("\n");
};

const columnHeadings = ["  model", "context", "input", "$ in / out"];

const groupHeading = ({ id, label, credentials, queried }: ProviderModels): string => {
  const state = queried
    ? "listed now"
    : !credentials.found
      ? "no credentials"
      : credentials.kind === "none"
        ? "no key needed"
        : "ready";
  return `${id}: ${label} (${state})`;
};

const maxNameWidth = 45;

/** A name too long for its column gets its own line, so that it can be copied in full. */
const rowLines = (row: ModelRow, line: string): readonly string[] => {
  const name = nameOf(row);
  return name.length <= maxNameWidth ? [line] : [name.slice(0, maxWidth), line];
};

const nameOf = ({ id, known, listed }: ModelRow): string =>
  `${listed === false ? "-" : known ? " " : "+"} ${sanitizeLine(id)}`;

const cellsOf = (row: ModelRow): readonly string[] => {
  const name = nameOf(row);
  const { context, input = [], price } = row;
  return [
    name.length <= maxNameWidth ? name : "",
    context === undefined ? "" : formatTokenCount(context),
    input.filter((kind) => kind !== "text").join(" "),
    price === undefined ? "" : `${price.input} / ${price.output}${price.longer === undefined ? "" : " *"}`,
  ];
};

const formatTokenCount = (tokens: number): string =>
  tokens >= 1_000_000 ? `${Number((tokens / 1_000_000).toFixed(1))}M` : `${Math.round(tokens / 1000)}k`;

const legendLines = (rows: readonly ModelRow[]): readonly string[] => [
  `As of ${factsDate}: context window in tokens, input media besides text, US dollars per million tokens.`,
  ...(rows.some(({ price }) => price?.longer !== undefined) ? ["* higher price for long prompts"] : []),
  ...(rows.some(({ known }) => !known) ? ["+ listed by the provider, unknown to Parley"] : []),
  ...(rows.some(({ listed }) => listed === false) ? ["- known to Parley, not listed by the provider"] : []),
];
