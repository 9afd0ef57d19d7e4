import type { CommandMatcher } from "../postgres/log.ts";
import type { NewRecord } from "../session/log/record.ts";
import type { SessionCommand } from "./service.ts";

/** A command of the inbox. */
export type ReceivedCommand = {
  readonly id: number;
  readonly command: SessionCommand;
  /** The span of the request that posted it. */
  readonly trace?: string | undefined;
};

/**
 * The commands of a session that its owner has read and not taken yet. A command given to the agent is taken by the record
 * it leads to, in the same transaction: so it reaches the conversation once, however often its owner changes.
 */
export class CommandLedger implements CommandMatcher {
  readonly #waiting = new Map<number, ReceivedCommand>();
  /** The commands given to the agent, whose records are still to come. */
  readonly #given = new Set<number>();
  /** The commands this owner has taken: the inbox may have been read before that, and arrive after it. */
  readonly #taken = new Set<number>();

  /** Adds what was read from the inbox, and returns what is new. */
  add(commands: readonly ReceivedCommand[]): readonly ReceivedCommand[] {
    const added = commands.filter(({ id }) => !this.#waiting.has(id) && !this.#taken.has(id));
    for (const each of added) this.#waiting.set(each.id, each);
    return added;
  }

  /** The commands that nothing was done about yet, in order. */
  open(): readonly ReceivedCommand[] {
    return [...this.#waiting.values()]
      .filter(({ id }) => !this.#given.has(id))
      .toSorted((one, other) => one.id - other.id);
  }

  /** Notes that a command is given to the agent: the record it leads to takes it. */
  give(id: number): void {
    this.#given.add(id);
  }

  /** Takes a command back from the agent, which did nothing about it. */
  takeBack(id: number): void {
    this.#given.delete(id);
  }

  answeredBy = (records: readonly NewRecord[]): readonly number[] => {
    const left = [...this.#given].toSorted((one, other) => one - other);
    return records.flatMap((record) => {
      const at = left.findIndex((id) => isAnswer(record, this.#waiting.get(id)?.command));
      return at === -1 ? [] : left.splice(at, 1);
    });
  };

  onTaken = (ids: readonly number[]): void => {
    for (const id of ids) {
      this.#waiting.delete(id);
      this.#given.delete(id);
      this.#taken.add(id);
    }
  };
}

/** Whether a record is what a command leads to. Messages reach the conversation in the order they are given. */
const isAnswer = (record: NewRecord, command: SessionCommand | undefined): boolean => {
  switch (command?.type) {
    case "user":
    case "steer":
      return record.kind === "entry" && record.entry.type === "user";
    case "decide":
      return record.kind === "decided" && record.call === command.call;
    case "title":
      return record.kind === "title" && record.title === command.title;
    case "cancel":
    case "model":
    case undefined:
      return false;
  }
};
