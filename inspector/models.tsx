import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Rendering, RenderingRow } from "../src/inspect/data/aligned-request.ts";
import type { ReadingRow } from "../src/inspect/data/reading-rows.ts";
import type { Overview, RenderingPage } from "../src/inspect/server/inspection.ts";
import { Code } from "../src/inspect/view/code.tsx";
import { formatBytes, formatCost, formatTokens } from "../src/inspect/view/format.ts";
import type { InspectorApi } from "./api.ts";
import { chunkSize, useChunks } from "./chunks.ts";
import type { ListPlace } from "./conversation.tsx";
import { ModelPicker } from "./model-picker.tsx";
import { FindingList, NoteList } from "./note.tsx";
import { Piece } from "./piece.tsx";
import { VirtualList } from "./virtual-list.tsx";

export type ModelsViewProps = {
  readonly api: InspectorApi;
  readonly overview: Overview;
  /** The entry of every row. */
  readonly places: readonly number[];
  readonly models: readonly string[];
  readonly onModels: (models: readonly string[]) => void;
  readonly place: ListPlace;
};

/** The most models side by side. */
const maxColumns = 3;

type ModelsChunk = { readonly rows: readonly ReadingRow[]; readonly renderings: readonly RenderingPage[] };

/** The conversation as models get it, two or three side by side, aligned entry by entry. */
export const ModelsView = ({ api, overview, places, models, onModels, place }: ModelsViewProps): VNode => {
  const [heads, setHeads] = useState<readonly (RenderingPage | string)[]>([]);
  const shown = models.slice(0, maxColumns);
  const version = `${overview.revision} ${shown.join(" ")}`;
  useEffect(() => {
    let isGone = false;
    void Promise.all(
      shown.map((model) => api.rendering(model, -1, 0).catch((error: unknown) => (error as Error).message)),
    ).then((loaded) => {
      if (!isGone) setHeads(loaded);
    });
    return () => {
      isGone = true;
    };
  }, [version]);
  const { chunk, ensure } = useChunks<ModelsChunk>(version, async (index) => {
    const start = places[index * chunkSize] ?? 0;
    const end = places[(index + 1) * chunkSize] ?? 2 ** 31;
    const [{ rows }, ...renderings] = await Promise.all([
      api.rows(index * chunkSize, chunkSize),
      ...shown.map((model) => api.rendering(model, start, end)),
    ]);
    return { rows, renderings };
  });
  const columns = { gridTemplateColumns: `repeat(${Math.max(1, shown.length)}, minmax(0, 1fr))` };
  return (
    <VirtualList
      key={shown.join(" ")}
      count={overview.rows}
      estimate={260}
      label="The conversation as models get it"
      current={place.current}
      jump={place.jump}
      onRange={ensure}
      header={
        <div class="models-head">
          <div class="columns" style={columns}>
            {shown.map((model, index) => (
              <ColumnHead
                key={`${index} ${model}`}
                overview={overview}
                model={model}
                rendering={heads[index]}
                onModel={(chosen) => onModels(shown.map((each, at) => (at === index ? chosen : each)))}
                onRemove={shown.length > 1 ? () => onModels(shown.filter((_, at) => at !== index)) : undefined}
              />
            ))}
          </div>
          {shown.length < maxColumns ? (
            <button type="button" class="quiet" onClick={() => onModels([...shown, nextModel(overview, shown)])}>
              Add a model
            </button>
          ) : null}
        </div>
      }
      renderRow={(index) => {
        const loaded = chunk(Math.floor(index / chunkSize));
        const row = loaded?.rows[index % chunkSize];
        if (row === undefined || loaded === undefined) return <div class="row row-waiting" />;
        const next = places[index + 1] ?? 2 ** 31;
        return (
          <div class="aligned">
            <header class="aligned-head">
              <span class={`kind kind-${row.type}`}>{row.type === "model" ? row.author : kinds[row.type]}</span>
              <span class="preview">{previewOf(row)}</span>
              <span class="entry-number">#{row.entry + 1}</span>
            </header>
            <div class="columns" style={columns}>
              {loaded.renderings.map((rendering, at) => (
                <Cell
                  key={at}
                  model={rendering.model}
                  calls={rendering.calls}
                  rows={rendering.rows.filter(({ entry }) => entry >= row.entry && entry < next)}
                />
              ))}
            </div>
          </div>
        );
      }}
    />
  );
};

const kinds: Readonly<Record<ReadingRow["type"], string>> = {
  user: "you",
  model: "model",
  result: "result",
  notice: "notice",
  compaction: "summary",
  copy: "download",
};

const previewOf = ({ parts }: ReadingRow): string =>
  parts
    .map((part) => {
      switch (part.type) {
        case "text":
        case "plain":
        case "code":
          return part.text;
        case "thinking":
          return "(thinking)";
        case "media":
          return `(${part.kind} ${part.name ?? part.id})`;
        case "call":
          return `${part.tool}(${part.subject ?? ""})`;
        case "result":
          return `result of ${part.tool}`;
      }
    })
    .join(" · ")
    .replaceAll(/[*`|]+|-{3,}/g, " ")
    .replaceAll(/\s+/g, " ")
    .slice(0, 200);

/** A model of an API family that is not shown yet. */
const nextModel = ({ targets }: Overview, shown: readonly string[]): string => {
  const wires = new Set(targets.filter(({ model }) => shown.includes(model)).map(({ wire }) => wire));
  return (targets.find(({ wire }) => !wires.has(wire)) ?? targets[0])?.model ?? "";
};

type ColumnHeadProps = {
  readonly overview: Overview;
  readonly model: string;
  readonly rendering: RenderingPage | string | undefined;
  readonly onModel: (model: string) => void;
  readonly onRemove: (() => void) | undefined;
};

const ColumnHead = ({ overview, model, rendering, onModel, onRemove }: ColumnHeadProps): VNode => (
  <section class="column-head" aria-label={`Request for ${model}`}>
    <div class="column-title">
      <ModelPicker targets={overview.targets} model={model} onModel={onModel} />
      {onRemove === undefined ? null : (
        <button type="button" class="quiet" aria-label={`Remove ${model}`} onClick={onRemove}>
          ✕
        </button>
      )}
    </div>
    {rendering === undefined ? <p class="fact">Rendering…</p> : null}
    {typeof rendering === "string" ? <p class="error">{rendering}</p> : null}
    {rendering === undefined || typeof rendering === "string" ? null : <ColumnFacts rendering={rendering} />}
  </section>
);

const ColumnFacts = ({ rendering }: { readonly rendering: RenderingPage }): VNode => (
  <>
    <p class="facts">
      <span class="tag">{rendering.wire}</span>
      {rendering.messages} messages · {formatBytes(rendering.bytes)} · about {formatTokens(rendering.tokens)} of{" "}
      {formatTokens(rendering.context)} tokens · {formatCost(rendering.cost)} uncached
    </p>
    <FindingList findings={rendering.findings} />
    <NoteList notes={rendering.notes} />
    <details>
      <summary>System prompt, tools and settings</summary>
      <Code text={rendering.head} language="json" label="The body without its messages" />
    </details>
    {rendering.rows
      .flatMap(({ pieces }) => pieces)
      .map((piece) => (
        <SentPiece piece={piece} />
      ))}
  </>
);

type CellProps = {
  readonly model: string;
  readonly rows: readonly RenderingRow[];
  readonly calls: Rendering["calls"];
};

/** One entry as one model gets it. */
const Cell = ({ model, rows, calls }: CellProps): VNode => {
  const pieces = rows.flatMap((row) => row.pieces);
  const notes = rows.flatMap((row) => row.notes);
  const shown = pieces.map(({ json }) => json).join(" ");
  const own = calls.filter(({ id, call }) => id !== call && shown.includes(`"${id}"`));
  return (
    <div class="cell" data-model={model}>
      <p class="cell-model">{model}</p>
      <div>
        <NoteList notes={notes} />
      </div>
      <div>
        {own.length === 0 ? null : (
          <p class="ids" title="Our id of a call, and the id this model gets">
            {own.map(({ call, id }) => (
              <span class="id">
                <code>{call}</code> → <code>{id}</code>
              </span>
            ))}
          </p>
        )}
      </div>
      <div class="cell-messages">
        {pieces.length === 0 ? (
          <p class="absent">{notes.length === 0 ? "Sent together with another entry, or not sent." : "Not sent."}</p>
        ) : (
          pieces.map((piece, index) => <SentPiece key={index} piece={piece} />)
        )}
      </div>
    </div>
  );
};

const SentPiece = ({ piece }: { readonly piece: RenderingRow["pieces"][number] }): VNode => (
  <Piece message={piece.message} json={piece.json}>
    {piece.isMerged ? <span class="tag">merged</span> : null}
    {piece.isCachePoint ? <span class="tag tag-cache">cache point</span> : null}
  </Piece>
);
