import type { VNode } from "preact";
import type { Overview } from "../src/inspect/server/inspection.ts";
import { Code } from "../src/inspect/view/code.tsx";
import { Row } from "../src/inspect/view/row.tsx";
import { formatBytes } from "../src/inspect/view/format.ts";
import type { InspectorApi } from "./api.ts";
import { chunkSize, useChunks } from "./chunks.ts";
import { StoredMedia } from "./media.tsx";
import { VirtualList } from "./virtual-list.tsx";

export type ListPlace = {
  readonly current: number | undefined;
  /** Grows when the list must scroll to the current row. */
  readonly jump: number;
  readonly isFollowing: boolean;
};

/** The conversation as people read it. */
export const ConversationView = ({
  api,
  overview,
  place,
}: {
  readonly api: InspectorApi;
  readonly overview: Overview;
  readonly place: ListPlace;
}): VNode => {
  const { chunk, ensure, error } = useChunks(`${overview.revision}`, (index) => api.rows(index * chunkSize, chunkSize));
  return (
    <VirtualList
      count={overview.rows}
      estimate={140}
      label="Conversation"
      current={place.current}
      jump={place.jump}
      isFollowing={place.isFollowing}
      onRange={ensure}
      header={
        <>
          <Preamble overview={overview} />
          {error === undefined ? null : <p class="error">{error}</p>}
        </>
      }
      renderRow={(index) => {
        const row = chunk(Math.floor(index / chunkSize))?.rows[index % chunkSize];
        if (row === undefined) return <div class="row row-waiting" />;
        return <Row row={row} showMedia={(media) => <StoredMedia api={api} media={media} />} />;
      }}
    />
  );
};

/** The head of every request, and the findings of reading the source. */
const Preamble = ({ overview }: { readonly overview: Overview }): VNode => (
  <div class="preamble">
    {overview.damage.map((text) => (
      <p class="warning">{text}</p>
    ))}
    {overview.readNotes.map(({ message }) => (
      <p class="warning">{message}</p>
    ))}
    {overview.rows === 0 ? <p class="empty">This conversation has no entries yet.</p> : null}
    {overview.system === undefined ? null : (
      <details>
        <summary>
          System prompt <span class="fact">{formatBytes(overview.system.length)}</span>
        </summary>
        <Code text={overview.system} language="" label="System prompt" />
      </details>
    )}
    {overview.tools.length === 0 ? null : (
      <details>
        <summary>
          Tools <span class="fact">{overview.tools.length}</span>
        </summary>
        {overview.tools.map(({ name, json, bytes }) => (
          <details>
            <summary>
              <span class="tool">{name}</span> <span class="fact">{formatBytes(bytes)}</span>
            </summary>
            <Code text={json} language="json" label={`Declaration of ${name}`} />
          </details>
        ))}
      </details>
    )}
  </div>
);
