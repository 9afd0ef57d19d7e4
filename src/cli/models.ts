import { providers } from "../providers/all.ts";
import type { Provider } from "../providers/define.ts";
import { findProvider } from "../providers/find.ts";
import { catalogue } from "../providers/models.data.ts";
import { factsDate, factsOf, modelsOf, type ModelFacts } from "../providers/models.ts";
import type { Found } from "../transport/credentials-key.ts";
import { explain, ProviderError } from "../transport/failure.ts";
import { listModels, type ListedModel } from "../transport/listing.ts";
import { realWorld } from "../world/real.ts";
import type { World } from "../world/world.ts";
import type { Run } from "./commands.ts";
import { credentialsOf, providerNamed } from "./credentials.ts";
import { aligned, oneLine, widest } from "./table.ts";

/** `parley models`: the models we know of, and with a provider those it lists now. */
export const models: Run = async (given) => {
  const world = realWorld();
  const named = given.value("provider");
  const groups = named === undefined ? await everyone(world) : [await askedOf(providerNamed(named), world)];
  for (const { note } of groups) if (note !== undefined) process.stderr.write(`parley: ${oneLine(note)}\n`);
  process.stdout.write(
    given.has("json") ? `${JSON.stringify({ asOf: factsDate, providers: groups }, null, 2)}\n` : printed(groups),
  );
  return 0;
};

/** A provider with its models, as `--json` prints it. */
type Group = {
  readonly id: string;
  readonly label: string;
  readonly credentials: Found;
  /** Whether the provider itself was asked. */
  readonly asked: boolean;
  /** Why it was not, or to no avail. */
  readonly note?: string;
  readonly models: readonly Row[];
};

/** A model. `known`: we have facts of it. `listed`: its provider names it now; absent where nobody asked. */
type Row = Partial<Omit<ModelFacts, "provider" | "known">> & {
  readonly id: string;
  readonly label?: string;
  readonly known: boolean;
  readonly listed?: boolean;
};

const everyone = async (world: World): Promise<readonly Group[]> => {
  const groups = await Promise.all(
    providers.map(async ({ id, label }): Promise<Group> => {
      const credentials = await credentialsOf(findProvider(id), world);
      return { id, label, credentials, asked: false, models: modelsOf(id).map(rowOf) };
    }),
  );
  return groups.toSorted((one, other) => rankOf(one) - rankOf(other));
};

const rankOf = ({ credentials }: Group): number => (!credentials.found ? 2 : credentials.kind === "none" ? 1 : 0);

const askedOf = async (provider: Provider, world: World): Promise<Group> => {
  const { id, label } = provider;
  const credentials = await credentialsOf(provider, world);
  const known = modelsOf(id).map(rowOf);
  const silent = (why: string): Group => ({
    id,
    label,
    credentials,
    asked: false,
    note: `${why} These are the models known on ${factsDate}.`,
    models: known,
  });
  if (provider.endpoint.paths.models === undefined) return silent(`${label} does not list its models.`);
  if (!credentials.found) return silent(`${label} was not asked. ${credentials.how}`);
  try {
    const listed = await listModels(provider, world);
    return { id, label, credentials, asked: true, models: merged(id, listed, known) };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return silent(explain(error.failure));
  }
};

/** Facts without the guesses that stand in for what nobody told. */
const rowOf = ({ provider, id, known, context, maxOutput, input, reasoning, price }: ModelFacts): Row => {
  const [, toldContext, toldOutput] = catalogue[provider]?.find(([name]) => name === id) ?? [];
  return {
    id,
    known,
    ...(typeof toldContext === "number" ? { context } : {}),
    ...(typeof toldOutput === "number" ? { maxOutput } : {}),
    input,
    reasoning,
    ...(price === undefined ? {} : { price }),
  };
};

/** What the provider lists, with our facts where we have some; then what we know and it does not list. */
const merged = (provider: string, listed: readonly ListedModel[], known: readonly Row[]): readonly Row[] => {
  const found = new Set<string>();
  const rows = listed.map((model): Row => {
    const { id: knownAs, ...facts } = rowOf(factsOf(provider, model.id));
    if (!facts.known) return { ...model, known: false, listed: true };
    found.add(model.id).add(knownAs);
    return { ...facts, ...model, listed: true };
  });
  return [...rows, ...known.filter(({ id }) => !found.has(id)).map((row) => ({ ...row, listed: false }))];
};

const printed = (groups: readonly Group[]): string => {
  const rows = groups.flatMap((group) => group.models);
  const cells = aligned([headings, ...rows.map(cellsOf)], { right: [1] });
  const [heading = "", ...lines] = rows.length === 0 ? [""] : cells;
  let at = 0;
  const body = groups.flatMap((group) => [
    "",
    headOf(group),
    ...group.models.flatMap((row) => ownLine(row, lines[at++] ?? "")),
  ]);
  return [heading.trimEnd(), ...body, "", ...legendFor(rows), ""].join("\n");
};

const headings = ["  model", "context", "takes", "$ in / out"];

const headOf = ({ id, label, credentials, asked }: Group): string => {
  const state = asked
    ? "as it lists them now"
    : !credentials.found
      ? "no credentials"
      : credentials.kind === "none"
        ? "no key needed"
        : "ready";
  return `${id}: ${label} (${state})`;
};

const longestName = 45;

/** A name that is too long for its column has a line of its own, so that it can be copied whole. */
const ownLine = (row: Row, line: string): readonly string[] => {
  const name = nameOf(row);
  return name.length <= longestName ? [line] : [name.slice(0, widest), line];
};

const nameOf = ({ id, known, listed }: Row): string => `${listed === false ? "-" : known ? " " : "+"} ${oneLine(id)}`;

const cellsOf = (row: Row): readonly string[] => {
  const name = nameOf(row);
  const { context, input = [], price } = row;
  return [
    name.length <= longestName ? name : "",
    context === undefined ? "" : inShort(context),
    input.filter((kind) => kind !== "text").join(" "),
    price === undefined ? "" : `${price.input} / ${price.output}${price.longer === undefined ? "" : " *"}`,
  ];
};

const inShort = (tokens: number): string =>
  tokens >= 1_000_000 ? `${Number((tokens / 1_000_000).toFixed(1))}M` : `${Math.round(tokens / 1000)}k`;

const legendFor = (rows: readonly Row[]): readonly string[] => [
  `Facts of ${factsDate}: tokens of context, what it takes beside text, US dollars for a million tokens.`,
  ...(rows.some(({ price }) => price?.longer !== undefined) ? ["* long prompts cost more"] : []),
  ...(rows.some(({ known }) => !known) ? ["+ listed by the provider, and not yet known here"] : []),
  ...(rows.some(({ listed }) => listed === false) ? ["- known here, and not listed by the provider"] : []),
];
