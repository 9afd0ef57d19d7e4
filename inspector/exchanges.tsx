import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ExchangeBody, ExchangeDetails, ExchangeRow, ExchangeTurn } from "../src/inspect/data/exchanges.ts";
import type { Overview } from "../src/inspect/server/inspection.ts";
import { Code } from "../src/inspect/view/code.tsx";
import { formatBytes, formatClock, formatCost, formatDuration, formatTokens } from "../src/inspect/view/format.ts";
import type { InspectorApi } from "./api.ts";
import { Fact } from "./fact.tsx";
import { FindingList, NoteList } from "./note.tsx";
import { Piece } from "./piece.tsx";
import { VirtualList } from "./virtual-list.tsx";

export type ExchangesViewProps = {
  readonly api: InspectorApi;
  readonly overview: Overview;
  readonly selected: number | undefined;
  readonly onSelect: (number: number) => void;
};

/** The exchanges of a log: what each client asked, and what was sent to a model for it. */
export const ExchangesView = ({ api, overview, selected, onSelect }: ExchangesViewProps): VNode => {
  const exchanges = overview.exchanges ?? [];
  const [words, setWords] = useState("");
  const shown = exchanges.filter((row) => hasWords(row, words));
  const number = selected ?? exchanges.length;
  if (exchanges.length === 0)
    return (
      <div class="page" tabIndex={0} role="region" aria-label="Exchanges">
        <p class="empty">This log has no exchange yet.</p>
      </div>
    );
  const sum = (read: (row: ExchangeRow) => number | undefined): number =>
    shown.reduce((total, row) => total + (read(row) ?? 0), 0);
  return (
    <div class="split">
      <VirtualList
        count={shown.length}
        estimate={64}
        label="Exchanges"
        current={shown.findIndex((row) => row.number === number)}
        jump={number}
        isNearest
        header={
          <>
            <input
              class="filter"
              type="search"
              aria-label="Filter by client, model or status"
              placeholder="Filter by client, model, status"
              value={words}
              onInput={({ currentTarget: { value } }) => setWords(value)}
            />
            {overview.damage.map((text) => (
              <p class="warning">{text}</p>
            ))}
            <dl class="totals">
              <Fact name="Exchanges" value={`${shown.length}`} />
              <Fact name="Failed" value={`${shown.filter(isFailed).length}`} />
              <Fact name="Input" value={formatTokens(sum(({ usage }) => usage?.input))} />
              <Fact name="Output" value={formatTokens(sum(({ usage }) => usage?.output))} />
              <Fact name="Cost" value={formatCost(sum(({ cost }) => cost))} />
            </dl>
          </>
        }
        renderRow={(index) => {
          const row = shown[index];
          return row === undefined ? null : (
            <ExchangeButton row={row} isSelected={row.number === number} onSelect={onSelect} />
          );
        }}
      />
      <Exchange api={api} number={number} key={`${number}`} />
    </div>
  );
};

const hasWords = ({ client, model, sentTo = "", status, api }: ExchangeRow, words: string): boolean => {
  const text = `${client} ${model} ${sentTo} ${api} ${status}`.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
};

const isFailed = ({ status }: ExchangeRow): boolean => status < 200 || status >= 400;

type ExchangeButtonProps = {
  readonly row: ExchangeRow;
  readonly isSelected: boolean;
  readonly onSelect: (number: number) => void;
};

const ExchangeButton = ({ row, isSelected, onSelect }: ExchangeButtonProps): VNode => {
  const { number, client, model, sentTo, status, at, took, usage, cost, notes } = row;
  return (
    <button type="button" class="request" aria-pressed={isSelected} onClick={() => onSelect(number)}>
      <span class="request-number">{number}</span>
      <span class="request-main">
        <span class="request-model">{sentTo ?? model}</span>
        <span class="facts">
          {client}
          {at === undefined ? "" : ` · ${formatClock(at)}`}
          {took === undefined ? "" : ` · ${formatDuration(took)}`}
        </span>
      </span>
      <span class="request-usage">
        <span class="facts">
          <span class={isFailed(row) ? "status status-error" : "status status-complete"}>{status}</span>
          {notes === 0 ? null : <span class="tag tag-rendering">{notes === 1 ? "1 note" : `${notes} notes`}</span>}
        </span>
        <span class="facts">
          {usage === undefined
            ? "no usage"
            : `${formatTokens(usage.input)} in · ${formatTokens(usage.output)} out · ${formatCost(cost)}`}
        </span>
      </span>
    </button>
  );
};

const Exchange = ({ api, number }: { readonly api: InspectorApi; readonly number: number }): VNode => {
  const [found, setFound] = useState<ExchangeDetails | string | undefined>(undefined);
  useEffect(() => {
    let isGone = false;
    api.exchange(number).then(
      (exchange) => isGone || setFound(exchange),
      (error: unknown) => isGone || setFound((error as Error).message),
    );
    return () => {
      isGone = true;
    };
  }, []);
  return (
    <section class="comparison" tabIndex={0} aria-label={`Exchange ${number}`}>
      <h2>Exchange {number}</h2>
      {found === undefined ? <p class="fact">Reading…</p> : null}
      {typeof found === "string" ? <p class="error">{found}</p> : null}
      {found === undefined || typeof found === "string" ? null : <Details details={found} />}
    </section>
  );
};

const Details = ({ details }: { readonly details: ExchangeDetails }): VNode => {
  const { row, error, notes, out, turns } = details;
  const { client, model, sentTo, status, took, usage, cost } = row;
  return (
    <>
      <p>
        {client === "" ? "A client" : client} asked for <code>{model}</code>
        {sentTo === undefined ? "; nothing was sent." : " and got "}
        {sentTo === undefined ? null : <code>{sentTo}</code>}
        {sentTo === undefined ? "" : "."}
      </p>
      {error === undefined ? null : <p class="error">{error}</p>}
      <dl class="totals">
        <Fact name="Status" value={`${status}`} />
        {took === undefined ? null : <Fact name="Time" value={formatDuration(took)} />}
        {usage === undefined ? null : (
          <>
            <Fact name="Input" value={formatTokens(usage.input)} />
            <Fact name="Read from cache" value={formatTokens(usage.cachedRead)} />
            <Fact name="Output" value={formatTokens(usage.output)} />
          </>
        )}
        <Fact name="Cost" value={formatCost(cost)} />
      </dl>
      <h3>Changed on the way</h3>
      {notes.length === 0 ? <p class="fact">Nothing.</p> : <NoteList notes={notes} />}
      <div class="columns two exchange-heads">
        <BodyHead title="Received" body={details.in} />
        {out === undefined ? <p class="absent">Nothing was sent.</p> : <BodyHead title="Sent" body={out} />}
      </div>
      {turns.map((turn, index) => (
        <Turn key={index} turn={turn} />
      ))}
    </>
  );
};

const BodyHead = ({ title, body }: { readonly title: string; readonly body: ExchangeBody }): VNode => (
  <section class="column-head" aria-label={title}>
    <h3>
      {title} <span class="tag">{body.wire ?? "unknown API"}</span>
    </h3>
    <p class="facts">
      {body.messages} messages · {formatBytes(body.bytes)}
    </p>
    {body.wire === undefined ? null : <FindingList findings={body.findings} />}
    <details>
      <summary>System prompt, tools and settings</summary>
      <Code text={body.head} language="json" label={`${title}, without its messages`} />
    </details>
  </section>
);

const Turn = ({ turn }: { readonly turn: ExchangeTurn }): VNode => (
  <div class="aligned exchange-turn">
    <header class="aligned-head">
      <span class={`kind ${turn.role === "asked" ? "kind-user" : "kind-model"}`}>
        {turn.role === "asked" ? "to the model" : "by the model"}
      </span>
    </header>
    <div class="columns two">
      {[turn.in, turn.out].map((messages, index) => (
        <div class="cell" key={index}>
          <p class="cell-model">{index === 0 ? "Received" : "Sent"}</p>
          <div class="cell-messages">
            {messages.length === 0 ? <p class="absent">Nothing here.</p> : null}
            {messages.map(({ message, json }) => (
              <Piece key={message} message={message} json={json} />
            ))}
          </div>
        </div>
      ))}
    </div>
  </div>
);
