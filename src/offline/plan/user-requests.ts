import type { AttachedFile } from "../api/attached-file.ts";
import type { ToolExchange, DemoTurn } from "../api/parsed-request.ts";
import { isStopped } from "./outcome.ts";

/** Something a person asked for, and what was done about it so far. */
export type UserRequest = {
  readonly texts: readonly string[];
  readonly files: readonly AttachedFile[];
  readonly exchanges: readonly ToolExchange[];
  /** What was said in the end. */
  readonly answer?: string;
};

/**
 * A conversation as requests. What is said while tools run belongs to the
 * request they run for, unless one of them was stopped: then it is a new one.
 */
export const groupUserRequests = (turns: readonly DemoTurn[]): readonly UserRequest[] => {
  const requests: UserRequest[] = [];
  for (const turn of turns) {
    const last = requests.at(-1);
    if (turn.role === "user") {
      const texts = turn.texts.filter(isUserText);
      if (texts.length === 0 && turn.files.length === 0) continue;
      if (last === undefined || last.answer !== undefined || last.exchanges.some(isStopped))
        requests.push({ texts, files: turn.files, exchanges: [] });
      else requests.splice(-1, 1, { ...last, texts: [...last.texts, ...texts], files: [...last.files, ...turn.files] });
    } else {
      const open = last ?? { texts: [], files: [], exchanges: [] };
      const after = { ...open, exchanges: [...open.exchanges, ...turn.exchanges] };
      const finished = turn.exchanges.length === 0 ? { ...after, answer: turn.text } : after;
      if (last === undefined) requests.push(finished);
      else requests.splice(-1, 1, finished);
    }
  }
  return requests;
};

/** Whether a text is a person's own words, and not something set beside them. */
const isUserText = (text: string): boolean => !injectedTexts.some((pattern) => pattern.test(text));

const injectedTexts: readonly RegExp[] = [
  /^\s*\[Notice\]/,
  /^\s*Summary of the conversation so far:/,
  /^\s*\(The conversation begins here\.\)\s*$/,
  /^\s*\((?:A result of \S+ was recorded|Another result of )/,
  /^\s*File file-[\da-f]+\b/,
  /^\s*\[(?:image|document|audio|video) file-\S+ not shown/,
  /^\s*<(?:environment|context|system-reminder|user_instructions|attached|file)\b/i,
  /^\s*--- .* ---/,
  /^\s*(?:This is where the session begins\.|Environment:|Today's date|The current date|The text files of the workspace:)/i,
  /^\s*Your last (?:answer was empty|tool call could not be read)\./,
];
