/** Whether an environment variable of this name holds a secret: `OPENAI_API_KEY`, `PGPASSWORD`, `GH_TOKEN`. */
export const isSecretName = (name: string): boolean => {
  const words = splitWords(name);
  if (harmlessNames.has(words.join("_")) || words.includes("PUBLIC")) return false;
  return words.some((word) => secretWords.test(word)) || /CONNECTION_?STRING|WEBHOOK|_DSN$/.test(words.join("_"));
};

/** Whether a field of this name, in JSON or in a query, holds a secret. Fields called `sort_key` are everywhere, so a key must say what it opens. */
export const isSecretField = (name: string): boolean => {
  const words = splitWords(name);
  if (words.includes("PUBLIC")) return false;
  return words.some((word, at) => {
    if (/^KEYS?$/.test(word)) return keyQualifiers.has(words[at - 1] ?? "");
    return secretWords.test(word) && word !== "PAT" && word !== "PASS";
  });
};

const splitWords = (name: string): readonly string[] =>
  name
    .replaceAll(/([a-z\d])([A-Z])/g, "$1_$2")
    .toUpperCase()
    .split(/[^A-Z\d]+/)
    .filter((word) => word !== "");

const secretWords =
  /^(PAT|PASS|DBPASS|PASSPHRASE|CREDS|JWT|COOKIE|PWD|\w*(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)S?)$/;

const keyQualifiers = new Set([
  "API",
  "ACCESS",
  "SECRET",
  "PRIVATE",
  "AUTH",
  "SIGNING",
  "ENCRYPTION",
  "MASTER",
  "SERVICE",
]);

/** The working folder, in variables every system has. */
const harmlessNames = new Set(["PWD", "OLDPWD"]);
