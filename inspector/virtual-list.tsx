import type { ComponentChildren, VNode } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

export type VirtualListProps = {
  readonly count: number;
  /** The height of a row before it was measured, in pixels. */
  readonly estimate: number;
  readonly label: string;
  readonly renderRow: (index: number) => ComponentChildren;
  /** Called with the first and last row on the screen. */
  readonly onRange?: (first: number, last: number) => void;
  /** The row that the reader is at; the list scrolls to it when `jump` changes. */
  readonly current?: number | undefined;
  readonly jump?: number;
  /** Scrolls no further than needed to show the current row. */
  readonly isNearest?: boolean;
  /** Keeps the end on the screen while rows are added. */
  readonly isFollowing?: boolean;
  readonly header?: ComponentChildren;
};

/** Rows rendered above and below the screen. */
const overscan = 6;

/** A list that has only the rows on the screen in the document, whatever their heights. */
export const VirtualList = (props: VirtualListProps): VNode => {
  const { count, estimate, renderRow, onRange, current, jump, isFollowing, isNearest, label, header } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const top = useRef<HTMLDivElement>(null);
  const heights = useRef(new Map<number, number>());
  const target = useRef<number | undefined>(undefined);
  const [view, setView] = useState({ top: 0, height: 800 });
  const [measured, setMeasured] = useState(0);
  const offsets = useMemo(() => computeOffsets(count, heights.current, estimate), [count, estimate, measured]);
  const headerHeight = top.current?.offsetHeight ?? 0;
  const first = Math.max(0, findRow(offsets, view.top - headerHeight) - overscan);
  const last = Math.min(count - 1, findRow(offsets, view.top - headerHeight + view.height) + overscan);

  const readView = (): void => {
    const element = scroller.current;
    if (element !== null) setView({ top: element.scrollTop, height: element.clientHeight });
  };

  const sizes = useMemo(
    () =>
      new ResizeObserver((changes) => {
        let isChanged = false;
        for (const { target: element } of changes) {
          const index = Number((element as HTMLElement).dataset["index"]);
          const height = (element as HTMLElement).offsetHeight;
          if (height === 0 || heights.current.get(index) === height) continue;
          heights.current.set(index, height);
          isChanged = true;
        }
        if (isChanged) setMeasured((number) => number + 1);
      }),
    [],
  );
  useEffect(() => () => sizes.disconnect(), [sizes]);

  useLayoutEffect(() => {
    readView();
    const watch = new ResizeObserver(readView);
    if (scroller.current !== null) watch.observe(scroller.current);
    return () => watch.disconnect();
  }, []);

  useEffect(() => {
    if (current !== undefined) target.current = current;
  }, [jump]);

  // Rows get their heights only once they are shown, so the place is set again until it no longer moves.
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    if (isFollowing === true) element.scrollTop = element.scrollHeight;
    else if (target.current !== undefined) {
      const start = headerHeight + (offsets[target.current] ?? 0);
      const end = headerHeight + (offsets[target.current + 1] ?? 0);
      if (isNearest !== true || start < element.scrollTop) element.scrollTop = start;
      else if (end > element.scrollTop + element.clientHeight) element.scrollTop = end - element.clientHeight;
    }
    readView();
  }, [offsets, jump, isFollowing, count]);

  useEffect(() => onRange?.(first, last), [first, last]);

  const release = (): void => {
    target.current = undefined;
  };
  const rows = [];
  for (let index = first; index <= last; index += 1)
    rows.push(
      <div
        key={index}
        role="listitem"
        aria-posinset={index + 1}
        aria-setsize={count}
        data-index={index}
        class={index === current ? "item current" : "item"}
        ref={(element: HTMLDivElement | null) => {
          if (element !== null) sizes.observe(element);
        }}
      >
        {renderRow(index)}
      </div>,
    );
  return (
    <div
      class="scroller"
      ref={scroller}
      tabIndex={0}
      role="region"
      aria-label={label}
      onScroll={readView}
      onWheel={release}
      onTouchMove={release}
      onPointerDown={release}
      onKeyDown={({ key }) => {
        if (/^(Arrow|Page|Home|End| )/.test(key)) release();
      }}
    >
      <div ref={top}>{header}</div>
      <div role="list" aria-label={label}>
        <div style={{ height: `${offsets[first] ?? 0}px` }} role="presentation" />
        {rows}
        <div style={{ height: `${(offsets[count] ?? 0) - (offsets[last + 1] ?? 0)}px` }} role="presentation" />
      </div>
    </div>
  );
};

/** Where each row starts; one more number says where the last one ends. */
const computeOffsets = (count: number, heights: ReadonlyMap<number, number>, estimate: number): Float64Array => {
  const offsets = new Float64Array(count + 1);
  for (let index = 0; index < count; index += 1)
    offsets[index + 1] = (offsets[index] ?? 0) + (heights.get(index) ?? estimate);
  return offsets;
};

/** The last row that starts at or above a position. */
const findRow = (offsets: Float64Array, position: number): number => {
  let [low, high] = [0, Math.max(0, offsets.length - 2)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((offsets[middle] ?? 0) <= position) low = middle;
    else high = middle - 1;
  }
  return low;
};
