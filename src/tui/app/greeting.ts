import type { Opened } from "../../agent/open.ts";
import { modelName } from "../../agent/model-ref.ts";
import type { Loaded } from "../../settings/load.ts";
import { line, linesOf, span } from "../text/line.ts";
import type { Line } from "../text/style.ts";

/** What a session begins with. */
export type Greeted = { readonly opened: Opened; readonly folder: string; readonly loaded: Loaded };

/** What was found: the model, the folder, and what is missing. */
export const greeting = ({ opened, folder, loaded }: Greeted): readonly Line[] => [
  [span("Parley", { bold: true, tone: "accent" }), span(`  ${folder}`, { tone: "muted" })],
  ...(opened.chosen.by === "none"
    ? [
        line(
          "No key was found, so the built-in offline model answers: it uses the tools, but it is no language model.",
        ),
        line("Set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or see parley doctor.", { tone: "muted" }),
      ]
    : [line(modelName(opened.agent.model()), { tone: "muted" })]),
  ...(loaded.policy.trusted
    ? []
    : [
        line("This folder is not trusted: its settings and context files are not read. /trust changes that.", {
          tone: "warning",
        }),
      ]),
  ...opened.notes.flatMap((note) => linesOf(note, { tone: "muted" })),
  [],
];
