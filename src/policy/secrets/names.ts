/** Whether an environment variable of this name holds a secret: `OPENAI_API_KEY`, `PGPASSWORD`, `GH_TOKEN`. */
export const isSecretName = (name: string): boolean => {
  const words = splitWords(name);
  if (harmlessNames.has(words.join("_")) || words.includes("PUBLIC")) return false;
  return words.some((word) => secretWords.test(word)) || /CONNECTION_?STRING|WEBHOOK|_DSN$/.test(words.join("_"));
};

/** Whether a JSON field or query parameter of this name holds a secret. Fields such as `sort_key` are common, so `key` needs a qualifier. */
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

/** Variables with the working folder, which every system has. */
const harmlessNames = new Set(["PWD", "OLDPWD"]);
