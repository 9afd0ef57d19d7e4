import type { CommandSpec } from "../command.ts";

/** `parley plugins`. */
export const pluginsCommand: CommandSpec = {
  name: "plugins",
  about: "Add and manage plugins: Agent Plugins, Claude plugins, Gemini CLI extensions",
  usage: "list|add SOURCE [PLUGIN...]|show|enable|disable|update|remove NAME [--yes]",
  positionals: ["[ACTION]", "[NAME...]"],
  choices: ["list", "add", "show", "enable", "disable", "update", "remove"],
  secondChoices: { add: "files" },
  details: [
    "SOURCE is a folder, or a git repository: an https or ssh URL, or owner/name on GitHub; #REF names a",
    "branch, tag or commit. For a marketplace, name the plugins to add. add copies the files into",
    "Parley's folder and runs nothing. It lists what the plugin brings and asks for each kind: skills,",
    "MCP servers, commands, hooks, agents, context. Your answer holds for exactly these files. update",
    "fetches again, shows the difference and asks again.",
  ],
  options: [
    { name: "yes", short: "y", about: "Agree to everything that is listed" },
    { name: "json", about: "list, show: print JSON" },
  ],
  example: "parley plugins add ./my-plugin",
  exitCodes: ["0  done", "1  no such plugin, not agreed, or it cannot be used", "2  wrong usage"],
  load: async () => (await import("./run.ts")).plugins,
};
