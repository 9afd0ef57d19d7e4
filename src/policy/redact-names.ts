/** Whether an environment variable of this name holds a secret: `OPENAI_API_KEY`, `PGPASSWORD`, `GH_TOKEN`. */
export const isSecretName = (name: string): boolean => {
  const words = wordsOf(name);
  if (harmless.has(words.join("_")) || words.includes("PUBLIC")) return false;
  return words.some((word) => secretWord.test(word)) || /CONNECTION_?STRING|WEBHOOK|_DSN$/.test(words.join("_"));
};

/** Whether a field of this name, in JSON or in a query, holds a secret. Fields called `sort_key` are everywhere, so a key must say what it opens. */
export const isSecretField = (name: string): boolean => {
  const words = wordsOf(name);
  if (words.includes("PUBLIC")) return false;
  return words.some((word, at) => {
    if (/^KEYS?$/.test(word)) return opening.has(words[at - 1] ?? "");
    return secretWord.test(word) && word !== "PAT" && word !== "PASS";
  });
};

const wordsOf = (name: string): readonly string[] =>
  name
    .replaceAll(/([a-z\d])([A-Z])/g, "$1_$2")
    .toUpperCase()
    .split(/[^A-Z\d]+/)
    .filter((word) => word !== "");

const secretWord =
  /^(PAT|PASS|DBPASS|PASSPHRASE|CREDS|JWT|COOKIE|PWD|\w*(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)S?)$/;

const opening = new Set(["API", "ACCESS", "SECRET", "PRIVATE", "AUTH", "SIGNING", "ENCRYPTION", "MASTER", "SERVICE"]);

/** The working folder, in variables every system has. */
const harmless = new Set(["PWD", "OLDPWD"]);
