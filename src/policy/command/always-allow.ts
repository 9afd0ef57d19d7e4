import { isPlainArgument } from "./parse/plain-argument.ts";
import type { CommandProfile } from "./profiles/profile.ts";

/**
 * Suggests the rule that "always allow" stores for a command: its required words, and its subcommand
 * where it has one. All words where a shorter prefix would allow something the user did not see.
 */
export const suggestRule = (
  words: readonly string[],
  { requiredWords }: CommandProfile,
): readonly string[] | undefined => {
  if (requiredWords === undefined) return undefined;
  if (needsExactRule(words)) return words;
  const name = words[0] ?? "";
  const isScript = scriptRunners.test(name) && /^run(?:-script)?$/.test(words[1] ?? "");
  const usual = isScript ? 3 : programsWithSubcommands.test(name) && isPlainArgument(words[1] ?? "-") ? 2 : 1;
  return words.slice(0, Math.max(requiredWords, usual));
};

/**
 * Whether "always allow" covers a command only word for word: commands that destroy data, run other
 * programs, use the network or install packages.
 */
export const needsExactRule = (words: readonly string[]): boolean => {
  const name = (words[0] ?? "").split("/").at(-1)?.toLowerCase() ?? "";
  const [subcommand = ""] = words.slice(1).filter((word) => !word.startsWith("-"));
  if (
    destructivePrograms.test(name) ||
    interpreters.test(name) ||
    networkClients.test(name) ||
    packageRunners.test(name)
  )
    return true;
  if (name === "find") return words.some((word) => /^-(?:exec|ok|delete|fprint|fls)/.test(word));
  if (name === "git") return !safeGitSubcommands.test(words[1] ?? "");
  if (scriptRunners.test(name)) return !/^(?:run|run-script|test|t|start|build|lint)$/.test(words[1] ?? "");
  if (!programsWithSubcommands.test(name)) return false;
  return subcommand === "" ? words.length > 1 : subcommandsThatRun.test(subcommand);
};

const destructivePrograms =
  /^(?:rm|rmdir|unlink|shred|srm|trash|mv|cp|dd|ln|install|truncate|tee|sponge|chmod|chown|chgrp|chattr|setfacl|setcap|kill|pkill|killall|reboot|shutdown|halt|poweroff|init|mount|umount|swapo(?:n|ff)|mkfs.*|mke2fs|[sc]?fdisk|parted|wipefs|losetup|cryptsetup|systemctl|service|launchctl|user(?:add|del|mod)|group(?:add|del|mod)|passwd|visudo|iptables|nft|ufw|sysctl|modprobe|insmod|rmmod|tar|unzip|zip|7z|rar|patch|sed|ed|ex|drop(?:db|user)|createdb|pg_restore|pg_dump|mysqladmin|dropuser)$/;

const interpreters =
  /^(?:.*sh|python[\d.]*|pypy[\d.]*|ipython[\d.]*|perl[\d.]*|ruby[\d.]*|irb|node|nodejs|deno|bun|tsx|ts-node|php[\d.]*|lua[\d.]*|luajit|tclsh[\d.]*|wish|expect|[gmn]?awk|osascript|rscript|r|julia|octave|matlab|java|jshell|scala|kotlin|groovy|clojure|clj|erl|elixir|iex|ghci|runghc|stack|swipl|guile|racket|dotnet-script|pwsh|powershell|cmd|vim?|nvim|emacs|nano|less|more|man|gdb|lldb|m4|bc|dc|gnuplot|sqlite3|psql|mysql|mariadb|mongo|mongosh|redis-cli|eval|source|\.|env|sudo|doas|su|runuser|pkexec|nohup|nice|ionice|stdbuf|timeout|setsid|xargs|parallel|time|watch|entr|strace|ltrace|valgrind|perf|flock|chroot|unshare|nsenter|bwrap|firejail|proot|fakeroot|faketime|taskset|chrt|setarch|numactl|prlimit|cpulimit|hyperfine|busybox|toybox|systemd-run|at|batch|crontab|script|screen|tmux|dtach|start-stop-daemon|docker.*|podman|nerdctl|buildah|kubectl|oc|helm|vagrant|terraform|tofu|pulumi|ansible.*|nix.*|direnv|exec|command|builtin|caffeinate|open|xdg-open)$/;

const networkClients =
  /^(?:curl|wget|aria2c|http|https|httpie|xh|nc|ncat|netcat|socat|telnet|ftp|lftp|sftp|scp|ssh.*|mosh|rsync|rclone|dig|nslookup|host|ping6?|traceroute|whois|nmap|openssl|gh|glab|hub|aws|gcloud|gsutil|az|doctl|fly(?:ctl)?|heroku|vercel|netlify|firebase|supabase|wrangler|mail|sendmail|svn|hg|jj)$/;

/** Programs that download packages and run code from them. */
const packageRunners =
  /^(?:npx|pnpx|bunx|uvx|pipx|pip[\d.]*|conda|mamba|gem|brew|apt|apt-get|aptitude|dpkg|yum|dnf|rpm|pacman|apk|snap|flatpak|port|choco|winget|scoop|corepack|volta|nvm|fnm|asdf|mise|rustup|pyenv|rbenv|code)$/;

const scriptRunners = /^(?:npm|yarn|pnpm)$/;

const programsWithSubcommands =
  /^(?:git|npm|yarn|pnpm|cargo|go|uv|poetry|pipenv|hatch|pdm|rye|make|just|task|mvn|gradle|dotnet|bundle|rake|rails|composer|mix|swift|bazel|turbo|nx|lerna)$/;

/** Subcommands that run or install a program named in their arguments. */
const subcommandsThatRun =
  /^(?:run|run-script|exec|x|dlx|create|init|new|install|i|ci|add|get|update|upgrade|remove|rm|uninstall|publish|deploy|release|runner|r|console|c|shell|tool|eval|script|clean|reset|purge|db:.*|generate|g)$/;

/** Git subcommands that lose nothing and contact no host but the user's own remotes. */
const safeGitSubcommands = /^(?:add|commit|fetch|pull|merge|cherry-pick|revert|stash|switch|mv)$/;
