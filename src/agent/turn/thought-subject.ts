/** A delta of thinking, with the heading it follows and its text after that heading. */
export type ThoughtDelta = { readonly text: string; readonly subject?: string; readonly description?: string };

/**
 * Parses the subjects of thoughts from a stream: Gemini and OpenAI begin each thought with one in bold, as in
 * `**Reading the file** I look at ...`. Text without a subject is left as it is.
 */
export class ThoughtSubjectParser {
  #subject: string | undefined;
  /** The incomplete last line, which may become a subject. */
  #line = "";

  /** Adds a delta. Returns it with its subject, if there is one. */
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
