import { isLargeText } from "../../editor/edit.ts";
import { expandMarkedText, markAsPaste } from "../../editor/state.ts";
import type { World } from "../../../world/world.ts";

/** Prompts typed in this session and earlier ones of the same project, as marked texts. */
export type InputHistory = {
  readonly read: () => Promise<readonly string[]>;
  readonly add: (marked: string) => void;
  /** Resolves once all additions are saved. */
  readonly flush: () => Promise<void>;
};

/** Limits of the file: prompts, characters of one prompt, characters of all. */
const limits = { prompts: 500, length: 50_000, total: 500_000 };

/** The input history of a project, saved in a file only the user can read. Prompts with secrets are not saved. */
export const createInputHistory = ({ files }: Pick<World, "files">, home: string, folder: string): InputHistory => {
  const pathOf = async (): Promise<string> => {
    const { createHash } = await import("node:crypto");
    return `${home}/history/${createHash("sha256").update(folder).digest("hex").slice(0, 24)}.json`;
  };
  const read = async (): Promise<readonly string[]> => {
    // Until 0.1.0 all projects had one history.
    const text = (await files.read(await pathOf())) ?? (await files.read(`${home}/history.json`)) ?? "[]";
    const prompts: unknown = JSON.parse(text);
    return Array.isArray(prompts) ? prompts.filter((each) => typeof each === "string") : [];
  };
  // History is a convenience: a file that cannot be read or written is ignored.
  const readOrEmpty = (): Promise<readonly string[]> => read().catch(() => []);
  const save = async (marked: string): Promise<void> => {
    const [prompts, { redactPatterns }] = await Promise.all([
      readOrEmpty(),
      import("../../../policy/secrets/patterns.ts"),
    ]);
    if (prompts.at(-1) === marked || marked.length > limits.length || redactPatterns(marked) !== marked) return;
    await files.writePrivate(await pathOf(), JSON.stringify(bounded([...prompts, marked]))).catch(() => undefined);
  };
  let saving: Promise<void> = Promise.resolve();
  return {
    read: readOrEmpty,
    add: (marked) => {
      saving = saving.then(() => save(marked));
    },
    flush: () => saving,
  };
};

/**
 * Finds the marked text of a message that was sent: its pastes are marked in the input history. A message of more than a
 * screen that is not there is taken for one paste.
 */
export const markSentText = async (text: string, readHistory: InputHistory["read"]): Promise<string> => {
  if (!isLargeText(text)) return text;
  const typed = (await readHistory()).findLast((marked) => expandMarkedText(marked) === text);
  return (
    typed ??
    (text.length > screenful.characters || text.split("\n").length > screenful.lines ? markAsPaste(text) : text)
  );
};

const screenful = { lines: 40, characters: 4000 };

/** The newest prompts within the limits. */
const bounded = (prompts: readonly string[]): readonly string[] => {
  let total = 0;
  const first = prompts.findLastIndex((each) => (total += each.length) > limits.total);
  return prompts.slice(Math.max(first + 1, prompts.length - limits.prompts));
};
