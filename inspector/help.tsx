import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { NoteClass } from "../src/conversation/notes.ts";
import { noteClasses } from "./note.tsx";

/** Every key, and what it does. */
const keys: readonly (readonly [key: string, about: string])[] = [
  ["1 – 6", "Conversation, As sent, Requests, Composition, Switch, Lint"],
  ["j  k", "Next and previous entry or request"],
  ["g  G", "First and last"],
  ["o", "Open or close everything in the entry"],
  ["/", "Search"],
  ["n  p", "Next and previous hit"],
  ["f", "Follow the end of a live session"],
  ["t", "Light or dark"],
  ["?", "This help"],
  ["Esc", "Close"],
];

/** The sheet of keys and colours. */
export const Help = ({ onClose }: { readonly onClose: () => void }): VNode => {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="help" aria-label="Keys and colours" onClose={onClose} onClick={onClose}>
      <h2>Keys</h2>
      <dl>
        {keys.map(([key, about]) => (
          <div>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{about}</dd>
          </div>
        ))}
      </dl>
      <h2>Notes</h2>
      <ul class="notes">
        {(Object.keys(noteClasses) as NoteClass[]).map((name) => (
          <li class={`note note-${name}`}>
            <span class="note-kind">{noteClasses[name].label}</span>
            <span class="note-text">{noteClasses[name].about}</span>
          </li>
        ))}
      </ul>
      <button type="button" onClick={onClose}>
        Close
      </button>
    </dialog>
  );
};
