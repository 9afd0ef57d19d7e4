import type { AgentSession } from "../../../agent/open-agent.ts";
import { printInfo } from "../transcript/message.ts";
import type { AppParts } from "../app-parts.ts";
import { findCommand, listCommands } from "./registry.ts";
import type { SlashCommand } from "./slash-command.ts";

/** The slash commands of the open session: built-in ones, those of files, plugins and skills, and prompts of MCP servers. */
export class CommandCatalog {
  readonly #parts: AppParts;
  #custom: readonly SlashCommand[] = [];
  #loading: Promise<unknown> = Promise.resolve();

  constructor(parts: AppParts) {
    this.#parts = parts;
  }

  /** Starts to load the custom commands of a session. */
  load(opened: AgentSession): void {
    this.#loading = this.#loadCustom(opened);
  }

  list(): readonly SlashCommand[] {
    return listCommands(this.#custom, this.#parts.active.chat?.opened.servers);
  }

  /** Finds a command by name once all are loaded, or returns an error text with suggestions. */
  async find(name: string): Promise<SlashCommand | string> {
    await this.#loading;
    return findCommand(name, this.list());
  }

  async #loadCustom(opened: AgentSession): Promise<void> {
    const { active, frontEnd, options } = this.#parts;
    const { world, home, folder } = options;
    const { loadPromptCommands } = await import("./custom/load-commands.ts");
    const { commands, problems } = await loadPromptCommands({ world, home, folder, loaded: active.loaded, opened });
    for (const problem of problems) printInfo(frontEnd, problem);
    this.#custom = commands;
  }
}
