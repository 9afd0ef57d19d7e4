import { shellBuiltins, statefulBuiltins } from "./builtins.ts";
import { classifyFind } from "./find.ts";
import { classifyGit } from "./git.ts";
import { readOnlyPrograms, isVersionQuery } from "./readers.ts";
import { runsOperands } from "../effects/launchers.ts";
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

/** What is known of a command by its words. */
export const classifyCommand: CommandClassifier = (words) => {
  const name = words[0] ?? "";
  if (statefulBuiltins.has(name)) return noRuleProfile(`${name} changes the shell itself, or tells what it knows`);
  if (isVersionQuery(name, words)) return readOnlyProfile();
  const student = Object.hasOwn(classifiers, name) ? classifiers[name] : undefined;
  if (student !== undefined) return student(words);
  if (launchers.test(name) || runsOperands(words)) return exactRuleProfile(words, `${name} runs whatever it is given`);
  if (networkClients.test(name)) return exactRuleProfile(words, `${name} uses the network`);
  return profileUnknownProgram(words);
};

/** Whether bash runs this command itself, whatever programs there are. */
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

/** Programs that talk to others over the network: every word of theirs can carry something there. */
const networkClients =
  /^(?:curl|wget|nc|ncat|netcat|socat|telnet|ftp|sftp|scp|rsync|dig|nslookup|host|ping6?|traceroute|whois)$/;

/** A program nothing is known of: words that could be options, settings, addresses or code must be spelled out by the rule. */
const profileUnknownProgram = (words: readonly string[]): CommandProfile => {
  const needs = Math.max(1, words.findLastIndex((word) => !isPlainArgument(word)) + 1);
  const paths = [...listPathWords(words), ...words.slice(needs)];
  return { requiredWords: needs, reason: `nothing is known of ${words[0]}`, paths, folderReading: "unknown" };
};

/** A name, a number, or a path that only goes down. */
export const isPlainArgument = (word: string): boolean =>
  /^[\w.](?:[\w.,@+/-]|:(?![:/]))*$/.test(word) && !word.split("/").includes("..");
