/** The URLs in a text, each once and normalized; one that cannot be parsed stays as written. */
export const findUrls = (text: string): readonly string[] => {
  const found = [...text.matchAll(urlPattern())].map(([match]) => withoutPunctuation(match));
  const meant = found.filter((match) => /^https?:[/\\]*[^/\\]/i.test(match));
  return [...new Set(meant.map((match) => (URL.canParse(match) ? new URL(match).href : match)))];
};

/** Whether a text contains instructions besides URLs. */
export const hasInstructions = (text: string): boolean => /\p{L}{2}|\p{Lo}/u.test(text.replaceAll(urlPattern(), ""));

const urlPattern = (): RegExp => /\bhttps?:[^\s<>"'`“”‘’«»]+/giu;

/** Where an address is really fetched from: a file shown on GitHub has a page around it, and its text elsewhere. */
export const toFetchUrl = (address: string): string => {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || url.host !== "github.com" || url.protocol !== "https:") return address;
  const [, owner, repository, blob, ...rest] = url.pathname.split("/");
  if (blob !== "blob" || rest.length < 2) return address;
  return `https://raw.githubusercontent.com/${owner}/${repository}/${rest.join("/")}`;
};

/** Trailing punctuation is not part of a URL; a closing bracket is, if it was opened within. */
const withoutPunctuation = (address: string): string => {
  let end = address.length;
  for (let left = maxTrailingPunctuation; left > 0 && endsWithPunctuation(address.slice(0, end)); left -= 1) end -= 1;
  return address.slice(0, end);
};

/** More signs in a row end no sentence. */
const maxTrailingPunctuation = 20;

const endsWithPunctuation = (address: string): boolean => {
  const last = address.at(-1) ?? "";
  const opening = { ")": "(", "]": "[", "}": "{" }[last];
  if (opening === undefined) return last !== "" && ".,;:!?…*_".includes(last);
  return address.split(opening).length < address.split(last).length;
};
