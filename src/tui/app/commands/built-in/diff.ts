import { UserShell } from "../../session/user-shell.ts";
import type { SlashCommandContext } from "../slash-command.ts";

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
  if (changes === "" && created === "") return at.info("No changes since the last commit.");
  const fence = "`".repeat(Math.max(3, ...[...changes.matchAll(/`+/g)].map(([ticks]) => ticks.length + 1)));
  if (changes !== "") await at.printMarkdown(`${fence}diff\n${changes}\n${fence}`);
  if (created !== "") at.info(`New files: ${created.split("\n").join(", ")}`);
};
