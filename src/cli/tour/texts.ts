import { basename, relative } from "node:path";
import { sanitizeLine, truncate } from "../text-table.ts";
import { isSuccessful } from "./table.ts";
import { prompts } from "./script.ts";
import type { TourVisit } from "./visit.ts";

/** The text before the conversation. */
export const introduction = (providers: number, model: string): readonly string[] => [
  "A tour, entirely on this machine: a small project in a temporary folder, and",
  `strict simulators of ${providers} providers' APIs. No network, no key.`,
  "",
  `1. A conversation with ${model}`,
];

/** The text before the table. */
export const tableIntroduction: readonly string[] = [
  "",
  "2. The next turn, with every provider's default model: it calls a tool and then",
  "   responds, so each provider gets two requests.",
  `  you    ${prompts.next}`,
  "",
];

/** Summarizes the tour; `early` are the rejections before the table. */
export const summarizeTour = (early: readonly string[], visits: readonly TourVisit[]): readonly string[] => {
  const requests = visits.reduce((sum, { accepted, refusals }) => sum + accepted + refusals.length, 0);
  const problems = [
    ...early.map((message) => `the conversation: ${message}`),
    ...visits.filter((visit) => !isSuccessful(visit)).flatMap(problemsOf),
  ];
  if (problems.length === 0) return [`All ${requests} requests to ${visits.length} providers were accepted.`];
  return ["There were problems:", ...problems.map((problem) => truncate(`  ${sanitizeLine(problem)}`, 80))];
};

const problemsOf = ({ provider, refusals, end, image }: TourVisit): readonly string[] =>
  [
    ...refusals,
    ...(end === "finished" ? [] : [`the turn ${end === "failed" ? "failed" : `was ${end}`}`]),
    ...(image === "lost" ? ["the image was lost"] : []),
  ].map((problem) => `${provider}: ${problem}`);

/** Commands that work without any setup. */
export const nextCommands = (): readonly string[] => {
  const parley = programName();
  return [
    "Try next:",
    `  ${parley} -p "what is in this folder?"`,
    `  ${parley} sessions`,
    `  ${parley} tour --conversation | ${parley} render - --for openai --explain`,
  ];
};

/** Returns the command that starts this program from the current folder. */
const programName = (): string => {
  const script = process.argv[1] ?? "parley";
  if (!/\.c?js$/.test(basename(script))) return "parley";
  const path = relative(process.cwd(), script);
  return `node ${/^[\w./-]+$/.test(path) ? path : `"${path}"`}`;
};
