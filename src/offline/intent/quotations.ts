/** A text whose quotations are masked, so that quoted words are not taken for words of the sentence. */
export type MaskedText = {
  readonly text: string;
  /** Replaces masks by the quoted text without quotation marks. */
  readonly unquote: (text: string) => string;
  /** Replaces masks by the original text, quotation marks included. */
  readonly restore: (text: string) => string;
};

/** Masks code fences, inline code and quotations. */
export const maskQuotations = (input: string): MaskedText => {
  const quoted: Quotation[] = [];
  const text = input.replaceAll(maskCharacters, "").replaceAll(quotations, (match, ...groups: unknown[]) => {
    const raw = match.trimStart();
    const inner = groups.slice(0, formCount).find((group) => typeof group === "string");
    quoted.push({ raw, inner: typeof inner === "string" ? inner : raw });
    return `${raw === match ? "" : " "}${maskStart}${quoted.length - 1}${maskEnd}`;
  });
  const restored = (words: string, of: (one: Quotation) => string): string =>
    words.replaceAll(masks, (sign, index: string) => {
      const one = quoted[Number(index)];
      return one === undefined ? sign : of(one);
    });
  return {
    text,
    unquote: (words) => restored(words, ({ inner }) => inner),
    restore: (words) => restored(words, ({ raw }) => raw),
  };
};

/** Matches one mask. */
const maskPattern = "\\ue000\\d+\\ue001";

/** Whether a word is a single mask. */
export const isMasked = (word: string): boolean => new RegExp(`^${maskPattern}$`).test(word);

type Quotation = { readonly raw: string; readonly inner: string };

const maskStart = "\ue000";
const maskEnd = "\ue001";
const maskCharacters = /[\ue000\ue001]/g;
const masks = /\ue000(\d+)\ue001/g;

/** Quotation forms. An apostrophe inside or after a word starts no quotation. */
const quotationForms = [
  /\s{0,20}```[^\n`]*\n([\s\S]*?)```/,
  /(?<![\p{L}\p{N}"])"([^"\n]*)"/u,
  /“([^”\n]*)”/,
  /`([^`\n]+)`/,
  /(?<![\p{L}\p{N}'])'([^'\n]*)'(?![\p{L}\p{N}])/u,
  /‘([^’\n]*)’/,
];

const formCount = quotationForms.length;
const quotations = new RegExp(quotationForms.map(({ source }) => source).join("|"), "gu");
