import type { Script } from "../sim/script.ts";

/** What the person says in the tour. */
export const asked = {
  first: "Why is the start page blank?",
  second: "Never mind the tests. Look at the picture of the page.",
  next: "So what should I change?",
} as const;

/** The model the conversation begins with. */
export const home = "anthropic";

const slow = ["cart", "login", "search", "payment"].map((name) => ({
  tool: "run_shell_command",
  input: { command: `node test/slow.mjs ${name}` },
}));

/** What every model of the tour says. The latest question comes first: an earlier one fits as long as nobody answered it. */
export const script: Script = {
  rules: [
    {
      asked: asked.next,
      replies: [
        { think: "One file is still unread.", call: { tool: "read_file", input: { absolute_path: "draw.js" } } },
        { say: "In app.js, write #app instead of #root." },
      ],
    },
    {
      asked: asked.second,
      replies: [
        { call: { tool: "read_file", input: { absolute_path: "page.png" } } },
        { say: "One colour everywhere: nothing was ever drawn." },
      ],
    },
    {
      asked: asked.first,
      replies: [
        {
          think: "The markup comes first.",
          say: "I will start with the markup.",
          call: { tool: "read_file", input: { absolute_path: "index.html" } },
        },
        {
          think: "The script fills #app. The tests may know more.",
          call: [{ tool: "read_file", input: { absolute_path: "app.js" } }, ...slow],
        },
      ],
    },
  ],
  otherwise: { say: "I have nothing to add." },
};
