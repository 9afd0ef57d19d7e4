import type { ServerRequestHandlers } from "../../../agent/mcp/server-requests.ts";
import type { ElicitationAnswer, FormContent } from "../../../mcp/requests/handlers.ts";
import { sanitizeForTerminal } from "../../../policy/terminal/sanitize.ts";
import { planQuestion, readPlanAnswer } from "../../../agent/session/plan-mode.ts";
import type { ApprovalMode } from "../../../policy/gate/approval-mode.ts";
import type { AskUser, ReviewPlan } from "../../../tools/capabilities.ts";
import type { ServerAnswer } from "../../views/server-question.ts";
import { askerName, type ServerRequest } from "../../views/server-question-text.ts";

/** A pending question of a server. */
export type ServerQuestion = { readonly id: number; readonly request: ServerRequest };

/** Listener for pending questions. */
export type ServerQuestionListener = {
  /** The pending questions changed. */
  readonly onChange: () => void;
  readonly info: (text: string) => void;
  /** Shows a plan, edits it in the user's editor, and changes the approval mode once one is approved. */
  readonly showPlan: (plan: string) => Promise<void>;
  readonly editPlan: (plan: string) => Promise<string | undefined>;
  readonly setMode: (mode: ApprovalMode) => Promise<void>;
};

type PendingQuestion = ServerQuestion & { readonly resolve: (answer: ServerAnswer) => void };

/**
 * Queue of questions that are not about a tool call: from MCP servers, and from the agent itself. A question that is
 * withdrawn, or whose server is gone, leaves the queue.
 */
export class ServerQuestions {
  /** The handlers MCP servers call. */
  readonly handlers: ServerRequestHandlers = {
    sample: async (request, signal) => {
      const answer = await this.#enqueue({ type: "sampling", ...request }, signal);
      return answer.type === "yes" ? "allowed" : "refused";
    },
    elicit: async (question, signal) => this.#answerElicitation(question, await this.#enqueue(question, signal)),
  };
  /** Asks, for the agent, whether a model should continue. */
  readonly confirmContinue = async (question: string, signal: AbortSignal): Promise<boolean> =>
    (await this.#enqueue({ type: "continue", message: question }, signal)).type === "yes";
  /** Asks the model's questions, one after the other, so that each is guarded against keys meant for the one before. */
  readonly askUser: AskUser = async (questions, signal) => {
    const answers: (readonly string[])[] = [];
    for (const [at, question] of questions.entries()) {
      const request = { type: "question", question, number: at + 1, count: questions.length } as const;
      const answer = await this.#enqueue(request, signal);
      const given = answer.type === "yes" ? answer.content?.["answer"] : undefined;
      if (!Array.isArray(given)) return undefined;
      answers.push(given);
    }
    return answers;
  };
  /** Shows a plan and asks whether to carry it out; one that was edited is shown and asked about again. */
  readonly reviewPlan: ReviewPlan = async (presented, signal) => {
    for (let plan = presented; ;) {
      await this.#listener?.showPlan(plan);
      const answer = (await this.askUser([planQuestion("Approve this plan?", [editOption])], signal))?.[0]?.[0];
      if (answer === editOption.label) {
        plan = (await this.#listener?.editPlan(plan)) ?? plan;
        continue;
      }
      const review = readPlanAnswer(answer, plan);
      if (review.type === "approved") await this.#listener?.setMode(review.mode);
      return review;
    }
  };
  readonly #open: (url: string) => Promise<boolean>;
  #listener: ServerQuestionListener | undefined;
  #pending: readonly PendingQuestion[] = [];
  #count = 0;

  /** `open` opens a URL in the user's browser; false if it cannot. */
  constructor(open: (url: string) => Promise<boolean>) {
    this.#open = open;
  }

  listen(listener: ServerQuestionListener): void {
    this.#listener = listener;
  }

  pending(): readonly ServerQuestion[] {
    return this.#pending;
  }

  answer({ id }: ServerQuestion, answer: ServerAnswer): void {
    this.#pending.find((each) => each.id === id)?.resolve(answer);
  }

  /** Cancels all pending questions. */
  cancel(): void {
    for (const { resolve } of this.#pending) resolve({ type: "cancel" });
  }

  #enqueue(request: ServerRequest, signal: AbortSignal): Promise<ServerAnswer> {
    return new Promise((resolve) => {
      this.#count += 1;
      const id = this.#count;
      const withdraw = (): void => settle({ type: "cancel" });
      const settle = (answer: ServerAnswer): void => {
        signal.removeEventListener("abort", withdraw);
        this.#pending = this.#pending.filter((each) => each.id !== id);
        if (signal.aborted) this.#listener?.info(`${askerName(request)} withdrew its question.`);
        this.#listener?.onChange();
        resolve(answer);
      };
      this.#pending = [...this.#pending, { id, request, resolve: settle }];
      signal.addEventListener("abort", withdraw, { once: true });
      if (signal.aborted) withdraw();
      else this.#listener?.onChange();
    });
  }

  async #answerElicitation(request: ServerRequest, answer: ServerAnswer): Promise<ElicitationAnswer> {
    switch (answer.type) {
      case "no":
        return { action: "decline" };
      case "cancel":
        return { action: "cancel" };
      case "yes":
        if (request.type === "url") await this.#openUrl(request.url);
        return acceptAnswer(answer.content);
    }
  }

  async #openUrl(url: string): Promise<void> {
    const shown = sanitizeForTerminal(url, "line");
    const isOpen = await this.#open(url);
    this.#listener?.info(isOpen ? `Opened ${shown}` : `Could not open a browser. Open this URL yourself: ${shown}`);
  }
}

const editOption = { label: "Edit the plan first", description: "in your editor" };

const acceptAnswer = (content: FormContent | undefined): ElicitationAnswer => ({
  action: "accept",
  ...(content === undefined ? {} : { content }),
});
