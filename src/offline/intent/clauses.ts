/** A part of a request that can be an intent of its own. */
export type Clause = { readonly text: string; readonly isLater: boolean };

/** Splits a request at sentence ends, at "then", and at "and" where another action follows. */
export const splitClauses = (text: string, isDoing: (words: string) => boolean): readonly Clause[] =>
  text
    .split(sentenceEnds)
    .flatMap((sentence) => splitBySequence(sentence))
    .flatMap(({ text: part, isLater }) => {
      const parts = takesRestOfSentence.test(trimClause(part)) ? [part] : splitAtConjunctions(part, isDoing);
      return parts.map((each, index) => ({ text: trimClause(each), isLater: isLater && index === 0 }));
    })
    .filter((clause) => /[\p{L}\p{N}\ue000*?]/u.test(clause.text));

/** Removes polite phrases and trailing punctuation from a clause. */
export const trimClause = (text: string): string => {
  let rest = text.trim();
  for (;;) {
    const shorter = rest.replace(politeness, "").replace(politeEndings, "").trim();
    if (shorter === rest) return rest;
    rest = shorter;
  }
};

const sentenceEnds = /(?<=[.?!;])\s+|\n+/;

/** Words that order what follows after what precedes. */
const sequenceWords =
  /(?:^|[\s,;]+)(?:and\s+)?(?:then|after that|afterwards|after which|finally|once (?:that|it) is done)\b,?\s+/i;

const splitBySequence = (sentence: string): readonly Clause[] => {
  const [head = "", ...rest] = sentence.split(new RegExp(sequenceWords, "gi"));
  return [{ text: head, isLater: false }, ...rest.map((text) => ({ text, isLater: true }))].filter(
    ({ text }) => text.trim() !== "",
  );
};

/** Verbs whose object extends to the end of the sentence. */
const takesRestOfSentence =
  /^(?:remember|memori[sz]e|keep in mind|don't forget|do not forget|note(?: down)? that|save to memory|search the web|google)\b/i;

const conjunctions =
  /(?:\s*,\s*and\s+|\s+and\s+(?:also\s+)?|\s*,\s+(?:also\s+)?|\s+as well as\s+|\s+&\s+|\s+but\s+(?:also\s+)?)/gi;

/** Splits at conjunctions that another action follows. */
const splitAtConjunctions = (text: string, isDoing: (words: string) => boolean): readonly string[] => {
  const parts: string[] = [];
  let from = 0;
  for (const joint of text.matchAll(conjunctions)) {
    const end = joint.index + joint[0].length;
    if (
      joint.index <= from ||
      locationOnly.test(trimClause(text.slice(from, joint.index))) ||
      !isDoing(trimClause(text.slice(end)))
    )
      continue;
    parts.push(text.slice(from, joint.index));
    from = end;
  }
  return [...parts, text.slice(from)];
};

/** A clause that only names the place of an action that follows. */
const locationOnly = /^(?:in|inside|within|edit|modify|update)\s+(?:the file )?\S+$/i;

const politeness =
  /^(?:(?:tell|show) me (?=(?:what|which|how|where|who|why|if|whether)\b)|(?:hi|hello|hey)(?: there| parley)?(?=[,!.]+\s*\w)|please|kindly|now|ok(?:ay)?|so|well|just|also|first(?: of all)?|next|do you know|i wonder|i(?:'d| would) like to know|find out (?=how|what|which)|could you|can you|would you|will you|would you mind|i(?:'d| would) like (?:you )?to|i want (?:you )?to|i need (?:you )?to|i'd like|you should|you can|you may|let's|let us|go ahead and|try to|help me(?: to)?|for me|quickly|maybe|perhaps|parley)(?:\b|(?<=\s))[\s,:!.]*(?=\S)/i;

const politeEndings =
  /(?:[\s,]+(?:please|for me|thanks|thank you|now|right now|too|as well|ok(?:ay)?|if you can|would you|will you))?[\s.?!,;:]*$/i;
