import { boolean, list, object, optional, string, type ValueOf } from "../schema.ts";
import type { UserQuestion } from "../capabilities.ts";
import { defineTool, ToolFailure, type AnyTool } from "../tool.ts";

const question = object({
  question: string({ minLength: 1 }),
  header: optional(string({ description: "One or two words." })),
  options: optional(
    list(object({ label: string({ minLength: 1 }), description: optional(string()) }), {
      maxItems: 8,
      description: "Omit for free text.",
    }),
  ),
  multiSelect: optional(boolean()),
});

export const askUser: AnyTool = defineTool({
  name: "ask_user",
  description:
    "Asks the user and waits for the answers. Only for decisions that are theirs; they can always type an answer of their own.",
  access: "read",
  hasNoTimeout: true,
  input: object({ questions: list(question, { minItems: 1, maxItems: 4, description: "One to four." }) }),
  touches: () => ({}),
  title: ({ questions }) => questions.map(({ question: text }) => text).join(" "),
  run: async ({ questions }, { askUser: ask, signal }) => {
    if (ask === undefined)
      throw new ToolFailure(
        "execution_failed",
        "No person can answer: this session runs unattended. Decide yourself, continue, and say in your answer what you assumed.",
      );
    const asked = questions.map(toUserQuestion);
    const answers = await ask(asked, signal);
    const text =
      answers === undefined
        ? "The user did not answer. Continue without, or end your turn and say what you need to know."
        : asked.map(({ question: words }, at) => `${words}\n${formatAnswer(answers[at] ?? [])}`).join("\n\n");
    return {
      content: [{ type: "text", text }],
      display: { type: "text", text: answers === undefined ? "Not answered" : text },
    };
  },
});

const toUserQuestion = ({ question: text, header, options, multiSelect }: ValueOf<typeof question>): UserQuestion => ({
  question: text,
  ...(header === undefined ? {} : { header }),
  options: (options ?? []).map(({ label, description }) => ({
    label,
    ...(description === undefined ? {} : { description }),
  })),
  allowsSeveral: multiSelect ?? false,
});

const formatAnswer = (answer: readonly string[]): string =>
  answer.length === 0 ? "Answer: (none)" : `Answer: ${answer.join("; ")}`;
