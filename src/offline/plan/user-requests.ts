import type { AttachedFile } from "../api/attached-file.ts";
import type { ToolExchange, DemoTurn } from "../api/parsed-request.ts";
import { isStopped } from "./outcome.ts";

/** A user's request and what was done for it so far. */
export type UserRequest = {
  readonly texts: readonly string[];
  readonly files: readonly AttachedFile[];
  readonly exchanges: readonly ToolExchange[];
  /** The final answer. */
  readonly answer?: string;
};

/**
 * Groups a conversation into user requests. A message sent while tools run belongs to the running request, unless one
 * of its calls was stopped: then it starts a new one.
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

/** Whether a text was written by the user rather than injected by the program. */
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
