import type { Choice, Completing } from "../editor/completion.ts";
import type { Option } from "../views/picker.ts";
import type { Argument, Desk, SlashCommand } from "./command.ts";

/** What can be written after commands. It is looked up once for each command that is being written. */
export class ArgumentChoices {
  readonly #desk: () => Desk;
  readonly #known = new Map<Argument, Promise<readonly Option[]>>();

  constructor(desk: () => Desk) {
    this.#desk = desk;
  }

  /** The choices for the word being written. */
  async of(
    { words: [name, ...before], query }: Extract<Completing, { kind: "argument" }>,
    commands: readonly SlashCommand[],
  ): Promise<readonly Choice[]> {
    const argument = commands.find((each) => each.name === name)?.arguments?.[before.length];
    if (argument === undefined) return [];
    const { mayBe = () => false } = argument;
    return (await this.#options(argument)).map(({ id, label, detail }) => ({
      label,
      insert: id,
      ...(detail === undefined ? {} : { detail }),
      ...(mayBe(query) ? { isSuggestion: true } : {}),
    }));
  }

  /** A command was given; what it did may have changed everything. */
  forget(): void {
    this.#known.clear();
  }

  #options(argument: Argument): Promise<readonly Option[]> {
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
