import { UserShell } from "../../session/user-shell.ts";
import type { SlashCommandContext } from "../slash-command.ts";

/** `/init`: lets the model write the project's context file. */
export const initProject = (words: string, at: SlashCommandContext): Promise<void> =>
  at.send(
    [
      "Look at this project and write AGENTS.md for agents that will work on it; if there is one, improve it instead.",
      "State what cannot be seen at once: how to build, test and check it (verified commands), how it is structured, conventions that differ from common ones, and what to avoid.",
      "Keep it under 60 lines, and invent nothing.",
      ...(words === "" ? [] : [words]),
    ].join(" "),
  );

/** `/review`: lets the model review changes that are not committed, or what the user names. */
export const reviewChanges = (words: string, at: SlashCommandContext): Promise<void> =>
  at.send(
    [
      words === ""
        ? "Review the changes in this repository that are not committed (git diff HEAD, and new files)."
        : `Review this: ${words}.`,
      "Look for defects: wrong results, lost data, unhandled failures, security holes, missing tests. Read the surrounding code before you judge.",
      "List each with file and line, what goes wrong and a fix, the worst first. Do not change any file, and do not praise.",
    ].join(" "),
  );

/** `/diff`: shows what changed since the last commit. No program that the repository configures is run. */
export const showDiff = async (words: string, at: SlashCommandContext): Promise<void> => {
  const services = await at.opened().services();
  const run = async (command: string): Promise<string | undefined> => {
    const { output, problem } = await new UserShell(at.world.clock, () => undefined).run(command, services);
    return problem === undefined ? output.trimEnd() : undefined;
  };
  const path = words === "" ? "" : ` -- '${words.replaceAll("'", "'\\''")}'`;
  const git = "git --no-pager -c core.fsmonitor=false";
  const changes = await run(`${git} diff --no-color --no-ext-diff --no-textconv HEAD${path}`);
  if (changes === undefined) return at.warn("git diff failed. Is this folder in a repository with a commit?");
  const created = (await run(`${git} ls-files --others --exclude-standard${path}`)) ?? "";
  if (changes === "" && created === "")
    return words === ""
      ? at.info("No changes since the last commit.")
      : at.warn(`No changes in ${words} since the last commit. /diff takes one file or folder.`);
  const fence = "`".repeat(Math.max(3, ...[...changes.matchAll(/`+/g)].map(([ticks]) => ticks.length + 1)));
  if (changes !== "") await at.printMarkdown(`${fence}diff\n${changes}\n${fence}`);
  if (created !== "") at.info(`New files: ${created.split("\n").join(", ")}`);
};
