import type { Script } from "../../sim/model/script.ts";

/** The user's prompts in the tour. */
export const prompts = {
  first: "Why is the start page blank?",
  second: "Never mind the tests. Look at the picture of the page.",
  next: "So what should I change?",
} as const;

/** The provider of the conversation in part 1. */
export const firstProvider = "anthropic";

const slowCalls = ["cart", "login", "search", "payment"].map((name) => ({
  tool: "run_shell_command",
  input: { command: `node test/slow.mjs ${name}` },
}));

/** The responses of every simulated model. Later prompts first: a rule matches as long as its prompt is in the conversation. */
export const tourScript: Script = {
  rules: [
    {
      prompt: prompts.next,
      replies: [
        { think: "One file is still unread.", call: { tool: "read_file", input: { absolute_path: "draw.js" } } },
        { say: "In app.js, write #app instead of #root." },
      ],
    },
    {
      prompt: prompts.second,
      replies: [
        { call: { tool: "read_file", input: { absolute_path: "page.png" } } },
        { say: "One colour everywhere: nothing was ever drawn." },
      ],
    },
    {
      prompt: prompts.first,
      replies: [
        {
          think: "The markup comes first.",
          say: "I will start with the markup.",
          call: { tool: "read_file", input: { absolute_path: "index.html" } },
        },
        {
          think: "The script fills #app. The tests may know more.",
          call: [{ tool: "read_file", input: { absolute_path: "app.js" } }, ...slowCalls],
        },
      ],
    },
  ],
  otherwise: { say: "I have nothing to add." },
};
