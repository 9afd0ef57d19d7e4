import type { AvailableCommand } from "@agentclientprotocol/sdk";
import { modelName } from "../agent/models/name.ts";
import type { UserPart } from "../conversation/parts.ts";
import type { SlashCommand, SlashCommandContext } from "../tui/app/commands/slash-command.ts";
import { loadPromptCommands } from "../tui/app/commands/custom/load-commands.ts";
import { listCommands } from "../tui/app/commands/registry.ts";
import { toLines } from "../tui/text/line.ts";
import { wrap } from "../tui/text/wrap.ts";
import type { QuestionDialog } from "./questions.ts";
import type { OpenedSession } from "./session.ts";

/** The commands of the terminal UI that work in an editor. */
const offeredCommands = new Set([
  "compact",
  "context",
  "explain",
  "export",
  "stats",
  "tools",
  "mcp",
  "agents",
  "memory",
  "trust",
]);

/** The result of a command: text for the person, or a prompt to send. */
export type CommandOutput = { readonly text: string; readonly prompt?: { text: string; parts: readonly UserPart[] } };

/** The session as commands change it. */
export type CommandTarget = {
  readonly session: OpenedSession;
  readonly dialog: QuestionDialog;
  readonly setMode: (mode: string) => Promise<void>;
  readonly setModel: (model: string) => Promise<void>;
};

/** The slash commands of a session: own ones for modes and models, those of the terminal UI, custom ones and MCP prompts. */
export class SessionCommands {
  readonly #target: CommandTarget;
  #custom: readonly SlashCommand[] = [];

  constructor(target: CommandTarget) {
    this.#target = target;
  }

  /** Reads the custom commands. */
  async load(): Promise<void> {
    const { commands } = await loadPromptCommands(this.#target.session);
    this.#custom = commands;
  }

  list(): AvailableCommand[] {
    return this.#all().map(({ name, description, usage }) => ({
      name,
      description,
      ...(usage === undefined || usage === "" ? {} : { input: { hint: usage } }),
    }));
  }

  /** Runs the command that a text begins with; undefined if it is none. */
  async run(text: string): Promise<CommandOutput | undefined> {
    const [, name, words = ""] = /^\/([^\s/]+)(?:\s+([^]*))?$/.exec(text.trim()) ?? [];
    const command = this.#all().find((each) => each.name === name);
    if (command === undefined) return undefined;
    const output: string[] = [];
    let prompt: CommandOutput["prompt"];
    const context = this.#context(output, (sent) => (prompt = sent));
    await command.run(words, context);
    return { text: output.join("\n\n"), ...(prompt === undefined ? {} : { prompt }) };
  }

  #all(): readonly SlashCommand[] {
    const { opened } = this.#target.session;
    const custom = new Set(this.#custom.map(({ name }) => name));
    const prompts = new Set((opened.servers?.prompts() ?? []).map(({ command }) => command));
    return [
      ...ownCommands(this.#target),
      ...listCommands(this.#custom, opened.servers).filter(
        ({ name }) => offeredCommands.has(name) || custom.has(name) || prompts.has(name),
      ),
    ];
  }

  /** The services of the terminal UI, as far as an editor has them: text is collected, and pickers become lists. */
  #context(output: string[], send: (prompt: NonNullable<CommandOutput["prompt"]>) => void): SlashCommandContext {
    const { session, dialog, setMode } = this.#target;
    const { world, home, folder, loaded, opened } = session;
    const say = (text: string): void => void output.push(text);
    const unavailable = (what: string) => (): never => {
      throw new Error(`${what} needs the terminal: run parley.`);
    };
    return {
      world,
      home,
      folder,
      loaded: () => loaded,
      opened: () => opened,
      requests: () => [],
      readInputHistory: async () => [],
      commandSnapshots: async () => unavailable("The files around commands")(),
      snapshots: unavailable("This command"),
      reopen: async () => unavailable("This command")(),
      info: say,
      warn: say,
      print: (lines) => say(lines.map((line) => line.map(({ text }) => text).join("")).join("\n")),
      printMarkdown: async (markdown) => say(markdown),
      // An editor renders Markdown itself.
      renderMarkdown: async (markdown, width) => toLines(markdown).flatMap((line) => wrap(line, { width })),
      pick: async (title, options) => {
        say(
          [title, "", ...options.map(({ id, detail }) => `- ${id}${detail === undefined ? "" : `: ${detail}`}`)].join(
            "\n",
          ),
        );
        return undefined;
      },
      confirm: async (title, options) => {
        const chosen = await dialog.ask({
          title,
          text: output.splice(0).join("\n"),
          options: options.map(({ id, label }) => ({
            optionId: id,
            name: label,
            kind:
              id === "yes" || id === "run"
                ? "allow_once"
                : id === "stop" || id === "never"
                  ? "reject_always"
                  : "reject_once",
          })),
        });
        return options.find(({ id }) => id === chosen);
      },
      runWork: (_, work) => work(new AbortController().signal, () => undefined),
      sendsWholeTurn: false,
      send: async (text, parts = []) => send({ text, parts }),
      restoreDraft: () => undefined,
      openEditor: async () => undefined,
      copyToClipboard: async () => unavailable("The clipboard")(),
      parley: async () => unavailable("This command")(),
      addFolder: unavailable("/add-dir"),
      login: async () => unavailable("/login")(),
      runShell: async (command) => {
        const { UserShell } = await import("../tui/app/session/user-shell.ts");
        return new UserShell(world.clock, () => undefined).run(command, await opened.services());
      },
      setTheme: () => undefined,
      setMode,
      ide: async () => unavailable("/ide")(),
      commands: () => this.#all(),
      width: () => 80,
      keyRemap: () => undefined,
      quit: () => undefined,
    };
  }
}

const ownCommands = ({ setMode, setModel }: CommandTarget): readonly SlashCommand[] => [
  {
    name: "model",
    usage: "PROVIDER/MODEL",
    description: "Switch model, from the next request on",
    run: async (words, { info, opened }) => {
      if (words !== "") await setModel(words);
      info(`Using ${modelName(opened().agent.model())}.${words === "" ? " Switch with /model PROVIDER/MODEL." : ""}`);
    },
  },
  {
    name: "approval",
    usage: "plan | default | auto_edit | yolo",
    description: "Change approval mode",
    run: async (words, { info }) => {
      await setMode(words);
      info(`Approval mode: ${words}.`);
    },
  },
];
