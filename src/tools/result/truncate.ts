import type { WorkspaceFiles } from "../capabilities.ts";

/** Characters of a tool result that a model gets at once. */
export const maxResultText = 40_000;

/**
 * Truncates a text to about `most` characters. Keeps the beginning and the end, stores the whole text in a file the
 * model can read, and says so in the text.
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
  const omitted = text.length - head.length - tail.length;
  const where =
    path === undefined
      ? "The rest could not be stored."
      : `The whole text is in ${path}; read it with read_file, offset and limit.`;
  return `${head}\n\n[${omitted} characters omitted. ${where}]\n\n${tail}`;
};

/** Cuts at the end of a line where one is near, and never within a surrogate pair. */
const cutAtLineEnd = (text: string): string => {
  const line = text.lastIndexOf("\n");
  return line > text.length / 2 ? text.slice(0, line) : dropHalfSurrogates(text);
};

const cutAtLineStart = (text: string): string => {
  const line = text.indexOf("\n");
  return line !== -1 && line < text.length / 2 ? text.slice(line + 1) : dropHalfSurrogates(text);
};

/** Removes halves of surrogate pairs that a cut left at the ends. */
export const dropHalfSurrogates = (text: string): string =>
  text.replace(/^[\udc00-\udfff]/, "").replace(/[\ud800-\udbff]$/, "");
