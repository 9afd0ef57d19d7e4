import type { CompletionChoice, CompletionQuery } from "../../editor/completion.ts";
import { listedOptions, type PickerOption } from "../../views/picker.ts";
import type { CommandArgument, SlashCommandContext, SlashCommand } from "../commands/slash-command.ts";

/** Completes arguments of slash commands. Options are looked up once per command being typed. */
export class ArgumentCompletions {
  readonly #context: () => SlashCommandContext;
  readonly #cache = new Map<CommandArgument, Promise<readonly PickerOption[]>>();

  constructor(desk: () => SlashCommandContext) {
    this.#context = desk;
  }

  /** Completes the argument being typed. */
  async complete(
    { words: [name, ...before], query }: Extract<CompletionQuery, { kind: "argument" }>,
    commands: readonly SlashCommand[],
  ): Promise<readonly CompletionChoice[]> {
    const argument = commands.find((each) => each.name === name || each.aliases?.includes(name ?? "") === true)
      ?.arguments?.[before.length];
    if (argument === undefined) return [];
    const { acceptsOther = () => false } = argument;
    return listedOptions(await this.#options(argument), query).map(({ id, label, detail, listed }) => ({
      label,
      insert: id,
      ...(detail === undefined ? {} : { detail }),
      ...(acceptsOther(query) ? { isOptional: true } : {}),
      ...(listed === "typed" ? { isUnusable: true } : {}),
    }));
  }

  /** Clears the cache, since a command may have changed the options. */
  clearCache(): void {
    this.#cache.clear();
  }

  #options(argument: CommandArgument): Promise<readonly PickerOption[]> {
    const known =
      this.#cache.get(argument) ??
      Promise.resolve(this.#context())
        .then(argument.options)
        .catch(() => {
          // A failed lookup is repeated next time.
          this.#cache.delete(argument);
          return [];
        });
    this.#cache.set(argument, known);
    return known;
  }
}
