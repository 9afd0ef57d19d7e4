/** A piece of thinking, with the heading it stands under and what it says below that heading. */
export type ThoughtDelta = { readonly text: string; readonly subject?: string; readonly description?: string };

/**
 * Finds the subjects of thoughts as they stream in: Gemini and OpenAI begin each thought with one in bold, as in
 * `**Reading the file** I look at ...`. Pieces of text that belong to no subject stay as they are.
 */
export class ThoughtSubjectParser {
  #subject: string | undefined;
  /** The line that is still open, where it may become a subject. */
  #line = "";

  /** Takes the next piece. The same text comes back, with what is known of it. */
  add(text: string): ThoughtDelta {
    this.#line += text;
    const found = lastHeading(this.#line);
    if (found === undefined) {
      this.#line = this.#line.slice(this.#line.lastIndexOf("\n") + 1);
      return this.#subject === undefined ? { text } : { text, subject: this.#subject, description: text };
    }
    this.#subject = found.subject;
    this.#line = "";
    return { text, subject: found.subject, description: found.description };
  }
}

/** The last bold text that begins a line, and what follows it. */
const lastHeading = (text: string): { readonly subject: string; readonly description: string } | undefined => {
  const found = [...text.matchAll(/(?:^|\n)[ \t]*\*\*([^*\n]+)\*\*[ \t]*:?/g)].at(-1);
  if (found === undefined) return undefined;
  const [whole, subject = ""] = found;
  return { subject: subject.trim(), description: text.slice(found.index + whole.length).trim() };
};
