/** A text in which everything quoted is one sign, so that its words cannot be taken for the sentence's own. */
export type Held = {
  readonly text: string;
  /** What was quoted, without its marks; other text as it is. */
  readonly open: (text: string) => string;
  /** All as it was written, marks included. */
  readonly raw: (text: string) => string;
};

/** Puts fences, code and quotations aside. */
export const hold = (given: string): Held => {
  const quoted: Quoted[] = [];
  const text = given.replaceAll(signs, "").replaceAll(quotations, (match, ...groups: unknown[]) => {
    const raw = match.trimStart();
    const inner = groups.slice(0, formCount).find((group) => typeof group === "string");
    quoted.push({ raw, inner: typeof inner === "string" ? inner : raw });
    return `${raw === match ? "" : " "}${first}${quoted.length - 1}${last}`;
  });
  const restored = (words: string, of: (one: Quoted) => string): string =>
    words.replaceAll(heldSigns, (sign, index: string) => {
      const one = quoted[Number(index)];
      return one === undefined ? sign : of(one);
    });
  return {
    text,
    open: (words) => restored(words, ({ inner }) => inner),
    raw: (words) => restored(words, ({ raw }) => raw),
  };
};

/** How a held text looks in a pattern. */
const heldWord = "\\ue000\\d+\\ue001";

/** Whether a word is a held text. */
export const isHeld = (word: string): boolean => new RegExp(`^${heldWord}$`).test(word);

type Quoted = { readonly raw: string; readonly inner: string };

const first = "\ue000";
const last = "\ue001";
const signs = /[\ue000\ue001]/g;
const heldSigns = /\ue000(\d+)\ue001/g;

/** Ways to quote. An apostrophe within or after a word quotes nothing. */
const forms = [
  /\s{0,20}```[^\n`]*\n([\s\S]*?)```/,
  /(?<![\p{L}\p{N}"])"([^"\n]*)"/u,
  /“([^”\n]*)”/,
  /`([^`\n]+)`/,
  /(?<![\p{L}\p{N}'])'([^'\n]*)'(?![\p{L}\p{N}])/u,
  /‘([^’\n]*)’/,
];

const formCount = forms.length;
const quotations = new RegExp(forms.map(({ source }) => source).join("|"), "gu");
