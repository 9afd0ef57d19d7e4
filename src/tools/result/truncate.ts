import type { WorkspaceFiles } from "../capabilities.ts";

/** How much of a result a model is given at once, in characters. */
export const maxResultText = 40_000;

/**
 * A text no longer than about `most` characters. Of a longer one, the beginning and
 * the end stay, and all of it is kept in a file the model can read; the text says so.
 */
export const truncateText = async (
  text: string,
  {
    files,
    name,
    most = maxResultText,
  }: { readonly files: Pick<WorkspaceFiles, "keep">; readonly name: string; readonly most?: number },
): Promise<string> => {
  if (text.length <= most) return text;
  const path = await files.keep(text, name).catch(() => undefined);
  const head = cutAtLineEnd(text.slice(0, Math.floor(most / 4)));
  const tail = cutAtLineStart(text.slice(text.length - Math.floor((most * 3) / 4)));
  const left = text.length - head.length - tail.length;
  const where =
    path === undefined ? "They could not be kept." : `All of it is in ${path}; read_file reads it by offset and limit.`;
  return `${head}\n\n[${left} characters left out here. ${where}]\n\n${tail}`;
};

/** Cuts at the end of a line where one is near, and never within a letter. */
const cutAtLineEnd = (text: string): string => {
  const line = text.lastIndexOf("\n");
  return line > text.length / 2 ? text.slice(0, line) : dropHalfSurrogates(text);
};

const cutAtLineStart = (text: string): string => {
  const line = text.indexOf("\n");
  return line !== -1 && line < text.length / 2 ? text.slice(line + 1) : dropHalfSurrogates(text);
};

/** A text without the halves of letters that a cut left at its ends. */
export const dropHalfSurrogates = (text: string): string =>
  text.replace(/^[\udc00-\udfff]/, "").replace(/[\ud800-\udbff]$/, "");
