import type { ComponentChildren, VNode } from "preact";
import { useState } from "preact/hooks";
import { Code } from "../src/inspect/view/code.tsx";

export type PieceProps = {
  /** The index of the message in its request. */
  readonly message: number;
  readonly json: string;
  /** Marks beside the number of the message. */
  readonly children?: ComponentChildren;
};

/** Longer messages are folded. */
const maxLines = 28;

/** A message of a request, or a part of one, as JSON. */
export const Piece = ({ message, json, children }: PieceProps): VNode => {
  const [isOpen, setOpen] = useState(false);
  const lines = json.split("\n");
  const isLong = lines.length > maxLines + 4;
  return (
    <div class="piece">
      <p class="piece-head">
        <span class="fact">message {message + 1}</span>
        {children}
      </p>
      <Code
        text={isLong && !isOpen ? lines.slice(0, maxLines).join("\n") : json}
        language="json"
        label={`Message ${message + 1}`}
      />
      {isLong ? (
        <button type="button" class="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Show less" : `Show ${lines.length - maxLines} more lines`}
        </button>
      ) : null}
    </div>
  );
};
