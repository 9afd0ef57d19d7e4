import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Composition, CompositionShare } from "../src/inspect/data/composition.ts";
import { compositionGroups, type CompositionGroup } from "../src/inspect/data/message-blocks.ts";
import type { Overview } from "../src/inspect/server/inspection.ts";
import { formatBytes, formatTokens } from "../src/inspect/view/format.ts";
import type { InspectorApi } from "./api.ts";
import { ModelPicker } from "./model-picker.tsx";

export type CompositionViewProps = {
  readonly api: InspectorApi;
  readonly overview: Overview;
  readonly model: string;
  readonly onModel: (model: string) => void;
};

/** The contents of the next request, by size. */
export const CompositionView = ({ api, overview, model, onModel }: CompositionViewProps): VNode => {
  const [found, setFound] = useState<Composition | string | undefined>(undefined);
  useEffect(() => {
    let isGone = false;
    setFound(undefined);
    api.composition(model).then(
      (composition) => isGone || setFound(composition),
      (error: unknown) => isGone || setFound((error as Error).message),
    );
    return () => {
      isGone = true;
    };
  }, [model, overview.revision]);
  const counted = overview.requests.findLast((request) => request.model === model && request.usage !== undefined);
  return (
    <div class="page" tabIndex={0} role="region" aria-label="Composition">
      <h2>Composition</h2>
      <p class="fact">The next request to a model, by what fills it.</p>
      <div class="controls">
        <ModelPicker targets={overview.targets} model={model} onModel={onModel} label="Model to compose for" />
      </div>
      {found === undefined ? <p class="fact">Composing…</p> : null}
      {typeof found === "string" ? <p class="error">{found}</p> : null}
      {found === undefined || typeof found === "string" ? null : <Shares composition={found} />}
      {counted?.usage === undefined ? null : (
        <p class="fact">
          The provider counted {formatTokens(counted.usage.input)} tokens in request {counted.number}, the last one to
          this model.
        </p>
      )}
    </div>
  );
};

/** The name of each kind of content, and what it is. */
const labels: Readonly<Record<CompositionGroup, readonly [name: string, about: string]>> = {
  system: ["System prompt", "Instructions of the program"],
  context: ["Context files", "Instructions of the person and the project"],
  skills: ["Skills", "The list of skills, without their texts"],
  tools: ["Tools", "Declarations; those of an MCP server together"],
  summary: ["Summary", "Written by a compaction instead of earlier entries"],
  notices: ["Notices", "Facts the program added: folder, date, changed files"],
  user: ["Your messages", "Text, and files you mentioned"],
  answers: ["Answers", "The model's texts"],
  thinking: ["Thinking", "Thinking that is sent back to the model"],
  calls: ["Tool calls", "Arguments, by tool"],
  results: ["Tool results", "Output, by tool"],
  media: ["Media", "Images, documents, audio, video"],
  other: ["Structure", "Field names, ids, settings, cache points"],
};

const Shares = ({ composition }: { readonly composition: Composition }): VNode => {
  const { tokens, bytes, context, groups } = composition;
  const shown = compositionGroups.flatMap((name) => groups.filter(({ group }) => group === name));
  const percent = (part: number, whole: number): number => (whole === 0 ? 0 : (100 * part) / whole);
  return (
    <>
      <p>
        About <strong>{formatTokens(tokens)}</strong> tokens, {percent(tokens, context).toFixed(1)} % of the{" "}
        {formatTokens(context)} this model takes; {formatBytes(bytes)} in all. Tokens are estimates.
      </p>
      <div class="stack" role="img" aria-label={describeShares(shown, tokens)}>
        {shown.map((share) => (
          <span
            class={`stack-${share.group}`}
            style={{ width: `${percent(share.tokens, tokens)}%` }}
            title={`${labels[share.group][0]}: ${formatTokens(share.tokens)}`}
          />
        ))}
      </div>
      <div class="shares" role="list">
        {shown.map((share) => (
          <Share share={share} percent={percent(share.tokens, tokens)} />
        ))}
      </div>
    </>
  );
};

const describeShares = (shares: readonly CompositionShare[], tokens: number): string =>
  shares
    .map(({ group, tokens: part }) => `${labels[group][0]} ${Math.round((100 * part) / Math.max(1, tokens))} percent`)
    .join(", ");

const Share = ({ share, percent }: { readonly share: CompositionShare; readonly percent: number }): VNode => {
  const { group, tokens, bytes, items } = share;
  const [name, about] = labels[group];
  const head = (
    <>
      <span class={`swatch stack-${group}`} aria-hidden="true" />
      <span class="share-name">
        {name} <span class="fact">{about}</span>
      </span>
      <span class="share-tokens">{formatTokens(tokens)}</span>
      <span class="share-percent">{percent.toFixed(1)} %</span>
      <span class="share-bytes">{formatBytes(bytes)}</span>
    </>
  );
  const hasItems = items.length > 1 || (items[0] !== undefined && items[0].count > 1) || nameIsTelling(share);
  return (
    <div class="share" role="listitem">
      {hasItems ? (
        <details>
          <summary class="share-head">{head}</summary>
          <table>
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Times</th>
                <th scope="col">Tokens</th>
                <th scope="col">Bytes</th>
              </tr>
            </thead>
            <tbody>
              {items.slice(0, maxItems).map((item) => (
                <tr>
                  <th scope="row">{item.name}</th>
                  <td>{item.count}</td>
                  <td>{formatTokens(item.tokens)}</td>
                  <td>{formatBytes(item.bytes)}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {items.length > maxItems ? <p class="fact">{items.length - maxItems} more.</p> : null}
        </details>
      ) : (
        <div class="share-head">{head}</div>
      )}
    </div>
  );
};

const nameIsTelling = ({ group }: CompositionShare): boolean =>
  ["context", "tools", "calls", "results", "media"].includes(group);

/** The most things of a kind that are listed. */
const maxItems = 100;
