import { join } from "node:path";

/** Files and folders of a home folder that contain keys, tokens, passwords or history. */
const homePaths: readonly string[] = [
  // Keys and password stores.
  ".ssh",
  ".gnupg",
  ".pki",
  ".password-store",
  ".local/share/keyrings",
  ".local/share/kwalletd",
  ".config/op",
  ".config/1Password",
  ".config/Bitwarden",
  ".config/keepassxc",
  ".config/sops",
  ".config/age",
  ".vault-token",
  "Library/Keychains",
  // Cloud accounts.
  ".aws",
  ".azure",
  ".boto",
  ".config/gcloud",
  ".config/doctl",
  ".config/hcloud",
  ".config/rclone",
  ".config/flyctl",
  ".config/configstore",
  ".config/netlify",
  ".config/vercel",
  ".databrickscfg",
  ".fly",
  ".kaggle",
  ".oci",
  ".s3cfg",
  ".terraform.d",
  ".terraformrc",
  // Containers and clusters.
  ".docker",
  ".kube",
  ".config/containers",
  ".colima",
  ".lima",
  // Hosts of code and packages.
  ".config/gh",
  ".config/glab-cli",
  ".config/hub",
  ".git-credentials",
  ".config/git/credentials",
  ".netrc",
  ".npmrc",
  ".pypirc",
  ".gem/credentials",
  ".cargo/credentials",
  ".cargo/credentials.toml",
  ".m2/settings.xml",
  ".m2/settings-security.xml",
  ".gradle/gradle.properties",
  ".huggingface",
  ".cache/huggingface/token",
  // Databases.
  ".pgpass",
  ".my.cnf",
  ".mylogin.cnf",
  // Agents and their keys.
  ".claude",
  ".claude.json",
  ".codex",
  ".gemini",
  ".qwen",
  ".config/github-copilot",
  ".config/parley",
  ".local/share/parley",
  ".local/state/parley",
  ".cache/parley",
  ".parley",
  // Browsers and mail.
  ".mozilla",
  ".thunderbird",
  ".config/google-chrome",
  ".config/chromium",
  ".config/BraveSoftware",
  ".config/microsoft-edge",
  "Library/Cookies",
  "Library/Application Support/Google/Chrome",
  "Library/Application Support/Firefox",
  // Command histories.
  ".bash_history",
  ".zsh_history",
  ".python_history",
  ".node_repl_history",
  ".psql_history",
  ".mysql_history",
  ".local/share/fish/fish_history",
];

/** System files that only root can read: a sandbox started by root would otherwise expose them. */
const systemPaths: readonly string[] = [
  "/etc/shadow",
  "/etc/shadow-",
  "/etc/gshadow",
  "/etc/gshadow-",
  "/etc/sudoers",
  "/etc/sudoers.d",
  "/etc/ssl/private",
  "/etc/wireguard",
  "/etc/krb5.keytab",
  "/etc/kubernetes",
  "/etc/rancher",
  "/var/lib/docker",
  "/var/lib/kubelet",
  "/var/spool/cron",
];

/** Host keys of the SSH server. */
const hostKeys: readonly string[] = ["rsa", "ecdsa", "ed25519", "dsa"].map((kind) => `/etc/ssh/ssh_host_${kind}_key`);

/** Lists the absolute paths of all known secret files and folders, whether they exist or not. */
export const listSecretPaths = (home: string): readonly string[] => [
  ...listSecretPathsInHome(home),
  ...systemPaths,
  ...hostKeys,
];

/** Lists those of a home folder, whether they exist or not. */
export const listSecretPathsInHome = (home: string): readonly string[] => homePaths.map((path) => join(home, path));
