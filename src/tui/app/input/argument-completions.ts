import type { CompletionChoice, CompletionQuery } from "../../editor/completion.ts";
import type { PickerOption } from "../../views/picker.ts";
import type { CommandArgument, SlashCommandContext, SlashCommand } from "../commands/slash-command.ts";

/** What can be written after commands. It is looked up once for each command that is being written. */
export class ArgumentCompletions {
  readonly #desk: () => SlashCommandContext;
  readonly #known = new Map<CommandArgument, Promise<readonly PickerOption[]>>();

  constructor(desk: () => SlashCommandContext) {
    this.#desk = desk;
  }

  /** The choices for the word being written. */
  async complete(
    { words: [name, ...before], query }: Extract<CompletionQuery, { kind: "argument" }>,
    commands: readonly SlashCommand[],
  ): Promise<readonly CompletionChoice[]> {
    const argument = commands.find((each) => each.name === name)?.arguments?.[before.length];
    if (argument === undefined) return [];
    const { acceptsOther: mayBe = () => false } = argument;
    return (await this.#options(argument)).map(({ id, label, detail }) => ({
      label,
      insert: id,
      ...(detail === undefined ? {} : { detail }),
      ...(mayBe(query) ? { isSuggestion: true } : {}),
    }));
  }

  /** A command was given; what it did may have changed everything. */
  clearCache(): void {
    this.#known.clear();
  }

  #options(argument: CommandArgument): Promise<readonly PickerOption[]> {
    const known =
      this.#known.get(argument) ??
      Promise.resolve(this.#desk())
        .then(argument.options)
        .catch(() => {
          // What cannot be found out yet is looked up again.
          this.#known.delete(argument);
          return [];
        });
    this.#known.set(argument, known);
    return known;
  }
}
