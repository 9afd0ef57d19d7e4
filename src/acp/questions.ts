import type { PermissionOption, SessionUpdate } from "@agentclientprotocol/sdk";
import type { ServerRequestHandlers } from "../agent/mcp/server-requests.ts";
import type { ConfirmContinue } from "../agent/options.ts";
import { isObject } from "../conversation/json.ts";
import type { Elicitation, ElicitationAnswer, FormContent } from "../mcp/requests/handlers.ts";
import type { AskUser, UserQuestion } from "../tools/capabilities.ts";
import type { SessionClient } from "./client.ts";
import { samplingText } from "../tui/views/server-question-text.ts";
import { fence, textContent } from "./tool-call.ts";

/** A question with a few answers, shown as a permission request: the one dialog that every client has. */
export type Question = {
  readonly title: string;
  readonly text: string;
  readonly options: readonly PermissionOption[];
};

/** Yes or no, for one time. */
const yesOrNo: readonly PermissionOption[] = [
  { optionId: "yes", name: "Yes", kind: "allow_once" },
  { optionId: "no", name: "No", kind: "reject_once" },
];

/** Asks the person questions that are not about a tool call of the model. */
export class QuestionDialog {
  readonly #client: SessionClient;
  #count = 0;

  constructor(client: SessionClient) {
    this.#client = client;
  }

  /** Asks, and resolves to the chosen option; undefined if the person closed the question, or the signal was aborted. */
  async ask({ title, text, options }: Question, signal?: AbortSignal): Promise<string | undefined> {
    this.#count += 1;
    const toolCallId = `question_${this.#count}`;
    const content = [textContent(text)];
    this.#update({ sessionUpdate: "tool_call", toolCallId, title, kind: "other", status: "pending", content });
    const answer = await this.#client
      .request(
        "session/request_permission",
        { toolCall: { toolCallId, title, kind: "other", status: "pending", content }, options },
        signal,
      )
      .catch(() => undefined);
    const chosen = chosenOption(answer, options);
    const status = chosen?.kind.startsWith("allow") === true ? "completed" : "failed";
    this.#update({ sessionUpdate: "tool_call_update", toolCallId, status });
    return chosen?.optionId;
  }

  /** Handlers for the requests of MCP servers. A form or URL is asked only by a client that can show it. */
  handlers(): ServerRequestHandlers {
    const { forms, urls } = this.#client.capabilities;
    return {
      sample: async (request, signal) => {
        const text = fence(samplingText(request, "your model"));
        const title = `Let the MCP server ${request.server} ask your model?`;
        return (await this.ask({ title, text, options: yesOrNo }, signal)) === "yes" ? "allowed" : "refused";
      },
      ...(forms || urls ? { elicit: (question, signal) => this.#elicit(question, signal) } : {}),
    };
  }

  /** Asks whether a model that repeats itself should continue. */
  readonly confirmContinue: ConfirmContinue = async (question, signal) =>
    (await this.ask({ title: "Continue?", text: question, options: yesOrNo }, signal)) === "yes";

  /** Asks the model's questions with a form; undefined if the client shows none. */
  askUser(): AskUser | undefined {
    if (!this.#client.capabilities.forms) return undefined;
    return async (questions, signal) => {
      const answer = await this.#client
        .request("elicitation/create", { mode: "form", ...questionForm(questions) }, signal)
        .catch(() => undefined);
      return readFormAnswers(answer, questions);
    };
  }

  #update(update: SessionUpdate): void {
    this.#client.update(update);
  }

  async #elicit(question: Elicitation, signal: AbortSignal): Promise<ElicitationAnswer> {
    const { forms, urls } = this.#client.capabilities;
    if (question.type === "form" ? !forms : !urls) return { action: "cancel" };
    this.#count += 1;
    const warning =
      question.type === "form" && question.seemsSecret
        ? "\n\nIt seems to ask for a password or key. Servers should never need one here."
        : "";
    const message = `The MCP server ${question.server} asks: ${question.message}${warning}`;
    const answer = await this.#client
      .request(
        "elicitation/create",
        question.type === "form"
          ? { mode: "form", message, requestedSchema: question.schema }
          : { mode: "url", message, url: question.url, elicitationId: `elicitation_${this.#count}` },
        signal,
      )
      .catch(() => undefined);
    return readElicitationAnswer(answer);
  }
}

type FormEntry = readonly [name: string, schema: object];

/** A form with one field per question, and one for another answer than the options. */
const questionForm = (questions: readonly UserQuestion[]): object => {
  const fields = questions.flatMap(({ question, header, options, allowsSeveral }, at): readonly FormEntry[] => {
    const title = header ?? question;
    if (options.length === 0) return [[`answer_${at}`, { type: "string", title, description: question }]];
    const choices = options.map(({ label, description }) => ({
      const: label,
      title: description === undefined ? label : `${label}: ${description}`,
    }));
    const choice = allowsSeveral
      ? { type: "array", title, description: question, items: { anyOf: choices } }
      : { type: "string", title, description: question, oneOf: choices };
    return [
      [`answer_${at}`, choice],
      [`other_${at}`, { type: "string", title: `${title}: another answer` }],
    ];
  });
  return {
    message: questions.map(({ question }) => question).join("\n"),
    requestedSchema: { type: "object", properties: Object.fromEntries(fields) },
  };
};

const readFormAnswers = (
  answer: unknown,
  questions: readonly UserQuestion[],
): readonly (readonly string[])[] | undefined => {
  if (!isObject(answer) || answer["action"] !== "accept") return undefined;
  const content = isObject(answer["content"]) ? answer["content"] : {};
  return questions.map((_, at) =>
    [content[`answer_${at}`], content[`other_${at}`]]
      .flat()
      .filter((each): each is string => typeof each === "string" && each.trim() !== ""),
  );
};

const chosenOption = (answer: unknown, options: readonly PermissionOption[]): PermissionOption | undefined => {
  const outcome = isObject(answer) && isObject(answer["outcome"]) ? answer["outcome"] : {};
  if (outcome["outcome"] !== "selected") return undefined;
  return options.find(({ optionId }) => optionId === outcome["optionId"]);
};

const readElicitationAnswer = (answer: unknown): ElicitationAnswer => {
  const { action, content } = isObject(answer) ? answer : {};
  if (action === "accept") return { action, ...(isObject(content) ? { content: content as FormContent } : {}) };
  return { action: action === "decline" ? "decline" : "cancel" };
};
