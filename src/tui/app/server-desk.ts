import type { ServerAsking } from "../../agent/server-asking.ts";
import type { ElicitationAnswer, FormContent } from "../../mcp/asking.ts";
import { plain } from "../../policy/plain.ts";
import type { ServerAnswer } from "../views/server-question.ts";
import { askerOf, type ServerAsks } from "../views/server-words.ts";

/** A server's question that waits for the person. */
export type ServerQuestion = { readonly id: number; readonly asks: ServerAsks };

/** Who shows the questions. */
export type DeskListener = {
  /** What waits has changed. */
  readonly changed: () => void;
  readonly say: (text: string) => void;
};

type Waiting = ServerQuestion & { readonly settle: (answer: ServerAnswer) => void };

/** Where questions that are not about a call wait for the person: of MCP servers, and of the agent. One that is taken back, or whose server is gone, is gone too. */
export class ServerDesk {
  /** How servers reach this desk. */
  readonly asking: ServerAsking = {
    sample: async (request, signal) => {
      const answer = await this.#put({ type: "sampling", ...request }, signal);
      return answer.type === "yes" ? "allowed" : "refused";
    },
    elicit: async (question, signal) => this.#elicited(question, await this.#put(question, signal)),
  };
  /** How the agent itself asks whether a model should continue. */
  readonly confirm = async (question: string, signal: AbortSignal): Promise<boolean> =>
    (await this.#put({ type: "continue", message: question }, signal)).type === "yes";
  readonly #open: (url: string) => Promise<boolean>;
  #listener: DeskListener | undefined;
  #waiting: readonly Waiting[] = [];
  #count = 0;

  /** `open` shows an address in the person's browser; false where it cannot. */
  constructor(open: (url: string) => Promise<boolean>) {
    this.#open = open;
  }

  listen(listener: DeskListener): void {
    this.#listener = listener;
  }

  waiting(): readonly ServerQuestion[] {
    return this.#waiting;
  }

  answer({ id }: ServerQuestion, answer: ServerAnswer): void {
    this.#waiting.find((each) => each.id === id)?.settle(answer);
  }

  /** Takes back everything that waits. */
  cancel(): void {
    for (const { settle } of this.#waiting) settle({ type: "cancel" });
  }

  #put(asks: ServerAsks, signal: AbortSignal): Promise<ServerAnswer> {
    return new Promise((resolve) => {
      this.#count += 1;
      const id = this.#count;
      const withdraw = (): void => settle({ type: "cancel" });
      const settle = (answer: ServerAnswer): void => {
        signal.removeEventListener("abort", withdraw);
        this.#waiting = this.#waiting.filter((each) => each.id !== id);
        if (signal.aborted) this.#listener?.say(`${askerOf(asks)} no longer asks.`);
        this.#listener?.changed();
        resolve(answer);
      };
      this.#waiting = [...this.#waiting, { id, asks, settle }];
      signal.addEventListener("abort", withdraw, { once: true });
      if (signal.aborted) withdraw();
      else this.#listener?.changed();
    });
  }

  async #elicited(asks: ServerAsks, answer: ServerAnswer): Promise<ElicitationAnswer> {
    switch (answer.type) {
      case "no":
        return { action: "decline" };
      case "cancel":
        return { action: "cancel" };
      case "yes":
        if (asks.type === "url") await this.#show(asks.url);
        return accepted(answer.content);
    }
  }

  async #show(url: string): Promise<void> {
    const shown = plain(url, "line");
    const isOpen = await this.#open(url);
    this.#listener?.say(isOpen ? `Opened ${shown}` : `No browser could be opened here. Open this yourself: ${shown}`);
  }
}

const accepted = (content: FormContent | undefined): ElicitationAnswer => ({
  action: "accept",
  ...(content === undefined ? {} : { content }),
});
