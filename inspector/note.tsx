import type { VNode } from "preact";
import type { Note, NoteClass } from "../src/conversation/notes.ts";
import type { Finding } from "../src/rules/rule.ts";

/** The meaning of each class of notes. */
export const noteClasses: Readonly<Record<NoteClass, { readonly label: string; readonly about: string }>> = {
  state: { label: "damage", about: "The conversation itself was damaged, and was repaired for this request." },
  rendering: { label: "changed", about: "Something was moved, made up or left out for this model." },
  projection: { label: "adapted", about: "A name, an id or a field was changed to fit this API." },
};

/** One note: what was done, to which call, and why. */
const NoteView = ({ note, times = 1 }: { readonly note: Note; readonly times?: number }): VNode => (
  <li class={`note note-${note.class}`}>
    <span class="note-kind" title={noteClasses[note.class].about}>
      {note.kind.replaceAll("-", " ")}
      {times > 1 ? ` × ${times}` : ""}
    </span>
    <span class="note-text">
      {note.message} {note.call === undefined ? null : <code>{note.call}</code>}
    </span>
  </li>
);

/** Notes, equal ones once with their number. */
export const NoteList = ({ notes }: { readonly notes: readonly Note[] }): VNode | null => {
  const counts = new Map<string, { note: Note; times: number }>();
  for (const note of notes) {
    const key = `${note.kind} ${note.message} ${note.call ?? ""}`;
    counts.set(key, { note, times: (counts.get(key)?.times ?? 0) + 1 });
  }
  if (notes.length === 0) return null;
  return (
    <ul class="notes">
      {[...counts.values()].map(({ note, times }) => (
        <NoteView note={note} times={times} />
      ))}
    </ul>
  );
};

/** The verdict of an API's rules on a body. Advice is folded: the API accepts the body. */
export const FindingList = ({ findings }: { readonly findings: readonly Finding[] }): VNode => {
  const errors = findings.filter(({ level }) => level === "error");
  const advice = findings.filter(({ level }) => level !== "error");
  return (
    <div class="findings">
      <p class={errors.length === 0 ? "verdict verdict-good" : "verdict verdict-bad"}>
        {errors.length === 0
          ? "✓ Valid: the API accepts it."
          : `✗ ${errors.length} ${errors.length === 1 ? "error" : "errors"}: the API refuses or loses something.`}
      </p>
      {errors.length === 0 ? null : <Findings findings={errors} />}
      {advice.length === 0 ? null : (
        <details>
          <summary>
            Advice <span class="fact">{advice.length}</span>
          </summary>
          <Findings findings={advice} />
        </details>
      )}
    </div>
  );
};

const Findings = ({ findings }: { readonly findings: readonly Finding[] }): VNode => (
  <ul class="notes">
    {findings.map(({ pointer, rule, message, level, effect }) => (
      <li class={`note ${level === "error" ? "note-state" : "note-projection"}`}>
        <span class="note-kind">{rule}</span>
        <span class="note-text">
          {message} <code>{pointer === "" ? "(body)" : pointer}</code> <span class="fact">{effect}</span>
        </span>
      </li>
    ))}
  </ul>
);
