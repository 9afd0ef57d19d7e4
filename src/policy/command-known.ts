import { builtins, shellCommands } from "./command-builtins.ts";
import { find } from "./command-find.ts";
import { git } from "./command-git.ts";
import { readers, tellsVersion } from "./command-readers.ts";
import { runsOperands } from "./command-launchers.ts";
import { sed } from "./command-sed.ts";
import { tar } from "./command-tar.ts";
import { farWords, never, reads, wary, type Student, type Study } from "./command-study.ts";

/** What is known of a command by its words. */
export const studyCommand: Student = (words) => {
  const name = words[0] ?? "";
  if (shellCommands.has(name)) return never(`${name} changes the shell itself, or tells what it knows`);
  if (tellsVersion(name, words)) return reads();
  const student = Object.hasOwn(students, name) ? students[name] : undefined;
  if (student !== undefined) return student(words);
  if (runsOthers.test(name) || runsOperands(words)) return wary(words, `${name} runs whatever it is given`);
  if (talks.test(name)) return wary(words, `${name} uses the network`);
  return stranger(words);
};

/** Whether bash runs this command itself, whatever programs there are. */
export const isBuiltin = (name: string): boolean => Object.hasOwn(builtins, name) || shellCommands.has(name);

const students: Readonly<Record<string, Student>> = {
  ...builtins,
  ...readers,
  find,
  sed,
  git,
  tar,
  gtar: tar,
  bsdtar: tar,
};

const runsOthers =
  /^(?:(?:ba|da|z|k|mk|a|fi|c|tc)?sh|python[\d.]*|perl|ruby|node|deno|bun|php|lua|[gmn]?awk|osascript|expect|env|sudo|doas|su|runuser|nohup|nice|ionice|stdbuf|timeout|setsid|xargs|parallel|time|watch|ssh|strace|ltrace|gdb|flock|chroot|unshare|nsenter|taskset|chrt|busybox|toybox|systemd-run|at|batch|crontab|docker|podman|kubectl|script|npx|pnpx|bunx|uvx|pipx|ed|ex|vi|vim|nvim|view|emacs|gdb|lldb|sqlite3|psql|mysql|mariadb|mongosh?|gnuplot|m4|tclsh|wish)$/;

/** Programs that talk to others over the network: every word of theirs can carry something there. */
const talks =
  /^(?:curl|wget|nc|ncat|netcat|socat|telnet|ftp|sftp|scp|rsync|dig|nslookup|host|ping6?|traceroute|whois)$/;

/** A program nothing is known of: words that could be options, settings, addresses or code must be spelled out by the rule. */
const stranger = (words: readonly string[]): Study => {
  const needs = Math.max(1, words.findLastIndex((word) => !isTame(word)) + 1);
  const paths = [...farWords(words), ...words.slice(needs)];
  return { needs, why: `nothing is known of ${words[0]}`, paths, folders: "unknown" };
};

/** A name, a number, or a path that only goes down. */
export const isTame = (word: string): boolean =>
  /^[\w.](?:[\w.,@+/-]|:(?![:/]))*$/.test(word) && !word.split("/").includes("..");
