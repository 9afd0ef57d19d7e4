import { shellBuiltins, statefulBuiltins } from "./builtins.ts";
import { classifyFind } from "./find.ts";
import { classifyGit } from "./git.ts";
import { readOnlyPrograms, isVersionQuery } from "./readers.ts";
import { runsOperands } from "../effects/launchers.ts";
import { isPlainArgument } from "../parse/plain-argument.ts";
import { classifySed } from "./sed.ts";
import { classifyTar } from "./tar.ts";
import {
  listPathWords,
  noRuleProfile,
  readOnlyProfile,
  exactRuleProfile,
  type CommandClassifier,
  type CommandProfile,
} from "./profile.ts";

/** Classifies a command by its words: returns its command profile. */
export const classifyCommand: CommandClassifier = (words) => {
  const name = words[0] ?? "";
  if (statefulBuiltins.has(name)) return noRuleProfile(`${name} changes or prints the shell's own state`);
  if (isVersionQuery(name, words)) return readOnlyProfile();
  const classifier = Object.hasOwn(classifiers, name) ? classifiers[name] : undefined;
  if (classifier !== undefined) return classifier(words);
  if (launchers.test(name) || runsOperands(words)) return exactRuleProfile(words, `${name} runs other programs`);
  if (networkClients.test(name)) return exactRuleProfile(words, `${name} uses the network`);
  return profileUnknownProgram(words);
};

/** Whether this command is a bash builtin. */
export const isBuiltin = (name: string): boolean => Object.hasOwn(shellBuiltins, name) || statefulBuiltins.has(name);

const classifiers: Readonly<Record<string, CommandClassifier>> = {
  ...shellBuiltins,
  ...readOnlyPrograms,
  find: classifyFind,
  sed: classifySed,
  git: classifyGit,
  tar: classifyTar,
  gtar: classifyTar,
  bsdtar: classifyTar,
};

const launchers =
  /^(?:(?:ba|da|z|k|mk|a|fi|c|tc)?sh|python[\d.]*|perl|ruby|node|deno|bun|php|lua|[gmn]?awk|osascript|expect|env|sudo|doas|su|runuser|nohup|nice|ionice|stdbuf|timeout|setsid|xargs|parallel|time|watch|ssh|strace|ltrace|gdb|flock|chroot|unshare|nsenter|taskset|chrt|busybox|toybox|systemd-run|at|batch|crontab|docker|podman|kubectl|script|npx|pnpx|bunx|uvx|pipx|ed|ex|vi|vim|nvim|view|emacs|gdb|lldb|sqlite3|psql|mysql|mariadb|mongosh?|gnuplot|m4|tclsh|wish)$/;

/** Network clients: each of their arguments can send data out. */
const networkClients =
  /^(?:curl|wget|nc|ncat|netcat|socat|telnet|ftp|sftp|scp|rsync|dig|nslookup|host|ping6?|traceroute|whois)$/;

/** Profiles an unknown program: arguments that could be options, settings, URLs or code must be part of the rule. */
const profileUnknownProgram = (words: readonly string[]): CommandProfile => {
  const requiredWords = Math.max(1, words.findLastIndex((word) => !isPlainArgument(word)) + 1);
  const paths = [...listPathWords(words), ...words.slice(requiredWords)];
  return { requiredWords, reason: "", paths, folderReading: "unknown" };
};
