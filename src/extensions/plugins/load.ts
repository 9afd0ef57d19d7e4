import type { JsonObject } from "../../conversation/json.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import { agentPluginManifest, isAgentPlugin, loadAgentPlugin } from "./agent-plugin.ts";
import { claudeManifests, loadClaudePlugin } from "./claude.ts";
import { geminiManifest, loadGeminiExtension } from "./gemini.ts";
import { isProblem, readJsonObject } from "./manifest.ts";
import type { InvalidPlugin, Plugin } from "./plugin.ts";
import type { PluginTree } from "./tree.ts";

/**
 * Loads a plugin from its files, in whichever layout they are. `entry` is a marketplace's description, which stands in
 * for a missing manifest. Nothing is run.
 */
export const loadPlugin = async (tree: PluginTree, entry?: JsonObject): Promise<Plugin | InvalidPlugin> => {
  const plugin = await loadLayout(tree, entry);
  if ("problem" in plugin) return { problem: sanitizeForTerminal(plugin.problem, "line") };
  const { name: _, ...about } = { ...plugin, description: sanitizeForTerminal(plugin.description, "line") };
  const all = [...plugin.problems, ...tree.problems];
  const problems = all.slice(0, maxProblems).map((problem) => sanitizeForTerminal(problem, "line"));
  if (all.length > maxProblems) problems.push(`${all.length - maxProblems} more parts are left out.`);
  return { name: plugin.name, ...about, problems };
};

/** More would push what the person agrees to off the screen. */
const maxProblems = 50;

const loadLayout = async (tree: PluginTree, entry: JsonObject | undefined): Promise<Plugin | InvalidPlugin> => {
  const own = await readJsonObject(tree, agentPluginManifest);
  if (own !== undefined && !isProblem(own) && isAgentPlugin(own)) return loadAgentPlugin(tree, own);
  for (const path of claudeManifests) {
    const manifest = await readJsonObject(tree, path);
    if (isProblem(manifest)) return manifest;
    if (manifest !== undefined) return loadClaudePlugin(tree, { ...entry, ...manifest });
  }
  const extension = await readJsonObject(tree, geminiManifest);
  if (isProblem(extension)) return extension;
  if (extension !== undefined) return loadGeminiExtension(tree, extension);
  if (entry !== undefined) return loadClaudePlugin(tree, entry);
  if (isProblem(own)) return own;
  return {
    problem:
      own === undefined
        ? `There is no plugin: none of ${[agentPluginManifest, ...claudeManifests, geminiManifest].join(", ")} was found.`
        : "plugin.json is not of an Agent Plugin 1.x: its $schema is missing or unknown.",
  };
};
