import { useRef, useState } from "preact/hooks";

/** The rows loaded with one request. */
export const chunkSize = 50;

/** Rows loaded as they come on the screen, in chunks. A new `version` of the data loads them again. */
export const useChunks = <Chunk>(
  version: string,
  load: (chunk: number) => Promise<Chunk>,
): {
  readonly chunk: (index: number) => Chunk | undefined;
  readonly ensure: (first: number, last: number) => void;
  readonly error: string | undefined;
} => {
  const store = useRef({ version, chunks: new Map<number, Chunk>(), loading: new Set<number>() });
  const [, setCount] = useState(0);
  const [error, setError] = useState<string | undefined>(undefined);
  // Old rows stay on the screen until the new ones are there.
  if (store.current.version !== version)
    store.current = { version, chunks: new Map(store.current.chunks), loading: new Set() };
  const fresh = useRef(new Map<number, string>());
  const ensure = (first: number, last: number): void => {
    const { chunks, loading } = store.current;
    for (let index = Math.floor(first / chunkSize); index <= Math.floor(last / chunkSize); index += 1) {
      if (fresh.current.get(index) === version || loading.has(index)) continue;
      loading.add(index);
      load(index)
        .then((chunk) => {
          chunks.set(index, chunk);
          fresh.current.set(index, version);
          setError(undefined);
        })
        .catch((reason: unknown) => {
          fresh.current.set(index, version);
          setError(reason instanceof Error ? reason.message : String(reason));
        })
        .finally(() => {
          loading.delete(index);
          setCount((count) => count + 1);
        });
    }
  };
  return { chunk: (index) => store.current.chunks.get(index), ensure, error };
};
