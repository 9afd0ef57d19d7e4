/** A line of a diff, with its number in the old and the new text. */
export type PatchLine = {
  readonly kind: "file" | "same" | "added" | "removed" | "note" | "fold";
  readonly text: string;
  readonly old: number | undefined;
  readonly fresh: number | undefined;
};

/** Parses a unified diff. Other text becomes notes, so that nothing is hidden. */
export const readPatch = (patch: string): readonly PatchLine[] => {
  const lines: PatchLine[] = [];
  let [old, fresh] = [0, 0];
  let left = { old: 0, fresh: 0 };
  let isFirst = true;
  for (const text of patch.replace(/\n$/, "").split("\n")) {
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)$/.exec(text);
    if (left.old <= 0 && left.fresh <= 0 && hunk !== null) {
      const start = [Number(hunk[1]), Number(hunk[3])] as const;
      left = { old: Number(hunk[2] ?? 1), fresh: Number(hunk[4] ?? 1) };
      const skipped = start[1] - (isFirst ? 1 : fresh);
      if (skipped > 0 && left.fresh > 0)
        lines.push(note(`⋯ ${skipped} unchanged ${skipped === 1 ? "line" : "lines"}${hunk[5] ?? ""}`));
      [old, fresh] = [...start];
      isFirst = false;
      continue;
    }
    const sign = text.charAt(0);
    const body = text.slice(1);
    if (sign === "\\") lines.push(note(body.trim()));
    else if (left.old <= 0 && left.fresh <= 0) {
      const name = headOf(text, lines);
      if (name !== undefined) isFirst = true;
      if (name !== "") lines.push(name === undefined ? note(text) : { ...note(name), kind: "file" });
    } else if (sign === "+") {
      lines.push({ kind: "added", text: body, old: undefined, fresh });
      fresh += 1;
      left = { ...left, fresh: left.fresh - 1 };
    } else if (sign === "-") {
      lines.push({ kind: "removed", text: body, old, fresh: undefined });
      old += 1;
      left = { ...left, old: left.old - 1 };
    } else {
      lines.push({ kind: "same", text: body, old, fresh });
      [old, fresh] = [old + 1, fresh + 1];
      left = { old: left.old - 1, fresh: left.fresh - 1 };
    }
  }
  return lines;
};

const note = (text: string): PatchLine => ({ kind: "note", text, old: undefined, fresh: undefined });

/** The file name from the two header lines: shown once, from the second; from the first only for a deleted file. */
const headOf = (text: string, lines: readonly PatchLine[]): string | undefined => {
  if (text.startsWith("--- ")) return text.startsWith("--- /dev/null") ? "" : text.slice(4).trim();
  if (!text.startsWith("+++ ")) return undefined;
  const name = text.slice(4).trim();
  const before = lines.at(-1);
  if (before?.kind !== "file") return `${name} (new)`;
  return before.text === name || name === "/dev/null" || before.text.replace(/^a\//, "") === name.replace(/^b\//, "")
    ? ""
    : name;
};
