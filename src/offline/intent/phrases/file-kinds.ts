/** Returns the glob for a kind of file, by its common name or its extension. */
export const globForKind = (kind: string): string | undefined => {
  const word = kind.toLowerCase().replace(/^\*?\.?/, "");
  if (Object.hasOwn(kinds, word)) return kinds[word];
  return /^[a-z\d]{1,5}$/.test(word) && !commonWords.has(word) ? `*.${word}` : undefined;
};

const images = "*.{png,jpg,jpeg,gif,webp,svg}";

const kinds: Readonly<Record<string, string>> = {
  typescript: "*.ts",
  javascript: "*.js",
  python: "*.py",
  markdown: "*.md",
  rust: "*.rs",
  golang: "*.go",
  ruby: "*.rb",
  shell: "*.sh",
  text: "*.txt",
  yaml: "*.{yml,yaml}",
  image: images,
  picture: images,
  test: "*{.test,.spec,_test}.*",
  config: "*{config,rc}*",
};

const commonWords: ReadonlySet<string> = new Set(
  "all any the my our these those many some few other new old big small each every large local open which what are there more to in of".split(
    " ",
  ),
);
