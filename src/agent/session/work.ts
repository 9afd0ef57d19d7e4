import { isOpenTodo, listTodos, type TodoItem } from "../../conversation/todo.ts";
import type { Session } from "../../session/session.ts";
import type { AgentEvent } from "../events.ts";
import { todoListNotice } from "../prompts.ts";
import type { TaskRegistry, TaskRegistryOptions } from "../tasks/task-registry.ts";
import type { Journal } from "./journal.ts";

/** The session whose work is kept. */
export type SessionWorkOptions = {
  readonly session: Pick<Session, "todos">;
  readonly journal: Journal;
  readonly emit: (event: AgentEvent) => void;
};

/** The work of a session that outlives a turn: the to-do list of the model, and tasks in the background. */
export class SessionWork {
  readonly #options: SessionWorkOptions;
  /** Entries at the start; more than those of a new session if it was resumed. */
  readonly #entriesAtStart: number;
  #todos: readonly TodoItem[];
  #tasks: TaskRegistry | undefined;

  constructor(options: SessionWorkOptions) {
    this.#options = options;
    this.#todos = options.session.todos ?? [];
    const { ledger, entryCount } = options.journal;
    this.#entriesAtStart = ledger.entries.some(({ type }) => type !== "notice") ? entryCount : 0;
  }

  get todos(): readonly TodoItem[] {
    return this.#todos;
  }

  get tasks(): TaskRegistry | undefined {
    return this.#tasks;
  }

  /** Replaces the to-do list and resolves once it is on disk. */
  async replaceTodos(todos: readonly TodoItem[]): Promise<void> {
    const { journal, emit } = this.#options;
    journal.appendMetadata({ kind: "todos", todos });
    await journal.commit();
    this.#todos = todos;
    emit({ type: "todos", todos });
  }

  /** The to-do list for the model, as long as something of it is left to do. */
  todoNotice(): string | undefined {
    if (!this.#todos.some(isOpenTodo)) return undefined;
    return todoListNotice(listTodos(this.#todos));
  }

  /** Opens the registry of background tasks, once. */
  openTasks(create: (options: Omit<TaskRegistryOptions, "clock">) => TaskRegistry): TaskRegistry {
    this.#tasks ??= create({
      lastNumber: this.#entriesAtStart,
      onChange: (task) => this.#options.emit({ type: "task", task }),
    });
    return this.#tasks;
  }

  /** Stops all background tasks, and records for the model that they ended. */
  async close(): Promise<void> {
    if (this.#tasks === undefined) return;
    const { journal } = this.#options;
    await this.#tasks.close();
    const notices = this.#tasks.takeNotices();
    for (const text of notices) journal.ledger.notice(text);
    // The session ends in any case; a resumed one learns from the task's id being unknown.
    if (notices.length > 0) await journal.commit().catch(() => undefined);
  }
}
