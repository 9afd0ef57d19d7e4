import { z } from "zod";
import type { UserQuestion } from "../capabilities.ts";
import { defineTool, ToolFailure, type AnyTool } from "../tool.ts";

const question = z.object({
  question: z.string().min(1),
  header: z.string().optional().describe("One or two words."),
  options: z
    .array(z.object({ label: z.string().min(1), description: z.string().optional() }))
    .max(8)
    .optional()
    .describe("Omit for free text."),
  multiSelect: z.boolean().optional(),
});

export const askUser: AnyTool = defineTool({
  name: "ask_user",
  description:
    "Asks the user and waits for the answers. Only for decisions that are theirs; they can always type an answer of their own.",
  access: "read",
  hasNoTimeout: true,
  input: z.object({ questions: z.array(question).min(1).max(4).describe("One to four.") }),
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

const toUserQuestion = ({ question: text, header, options, multiSelect }: z.infer<typeof question>): UserQuestion => ({
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
