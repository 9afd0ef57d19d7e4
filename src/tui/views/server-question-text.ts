import { isObject } from "../../conversation/json.ts";
import type { Elicitation, FormContent, SamplingRequest } from "../../mcp/requests/handlers.ts";
import { readForm, type FormField } from "../../mcp/requests/form.ts";
import { judgeUrl } from "../../policy/network/judge-url.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import { createRedactor } from "../../policy/secrets/redact.ts";
import type { ApprovalPrompt } from "./approval.ts";
import { maskSecret } from "./form-view.ts";

/** A question of an MCP server, or of the agent itself: whether a model that repeats itself should continue. */
export type ServerRequest =
  | ({ readonly type: "sampling" } & SamplingRequest)
  | Elicitation
  | { readonly type: "continue"; readonly message: string };

/** The name of who asks. */
export const askerName = (asks: ServerRequest): string =>
  asks.type === "continue" ? "Parley" : `The MCP server ${sanitizeForTerminal(asks.server, "line")}`;

/** The first prompt of a server question. `model` is the one that would answer. */
export const initialPrompt = (
  asks: ServerRequest,
  { model, waiting }: { readonly model: string; readonly waiting: number },
): ApprovalPrompt => {
  const base = { title: askerName(asks), reasons: [], noLabel: "No", waiting };
  switch (asks.type) {
    case "sampling":
      return {
        ...base,
        subject: { type: "text", text: samplingText(asks, model) },
        choices: [{ id: "yes", key: "y", label: "Yes, this once" }],
      };
    case "continue":
      return {
        ...base,
        noLabel: "No, stop it",
        subject: { type: "text", text: sanitizeForTerminal(asks.message, "line") },
        choices: [{ id: "yes", key: "y", label: "Yes, continue" }],
      };
    case "url":
      return {
        ...base,
        subject: { type: "address", text: `${asks.message}\nIt wants you to open this address:`, url: asks.url },
        reasons: [judgeUrl(asks.url).reason].filter((reason) => reason !== ""),
        choices: [{ id: "yes", key: "o", label: "Open it in a browser" }],
      };
    case "form":
      return { ...base, ...formPrompt(asks, readForm(asks.schema)) };
  }
};

/** The review of an answer before it is sent. Secrets are masked. */
export const reviewPrompt = (
  asks: ServerRequest,
  { fields, content }: { readonly fields: readonly FormField[]; readonly content: FormContent },
  waiting: number,
): ApprovalPrompt => {
  const { containsSecret } = createRedactor();
  const suspects = fields.filter(({ name }) => containsSecret(String(content[name] ?? "")));
  return {
    title: askerName(asks),
    subject: {
      type: "text",
      text: ["It would be sent this:", ...fields.map((field) => filledField(field, content))].join("\n"),
    },
    reasons: suspects.map(({ title }) => `What you entered for ${title} looks like a secret.`),
    choices: [
      { id: "yes", key: "y", label: "Yes, send it" },
      { id: "edit", key: "e", label: "Change it" },
    ],
    noLabel: "No, send nothing",
    waiting,
  };
};

const samplingText = ({ system, messages, maxTokens }: SamplingRequest, model: string): string =>
  [
    `It wants ${model} to answer this, at your cost, in at most ${maxTokens} tokens. It gets the answer; nothing of it enters the conversation.`,
    ...(system === undefined ? [] : ["system:", indented(system)]),
    ...messages.flatMap(({ role, content }) => [`${role}:`, indented([content].flat().map(pieceText).join("\n"))]),
  ].join("\n");

/** Indents the server's text to set it apart from ours. */
const indented = (text: string): string =>
  sanitizeForTerminal(text, "visible")
    .split("\n")
    .map((each) => `  ${each}`)
    .join("\n");

const pieceText = (piece: unknown): string => {
  const { type, text, data, mimeType } = isObject(piece) ? piece : {};
  if (type === "text" && typeof text === "string") return text;
  const size = typeof data === "string" ? `, ${Math.floor((data.length * 3) / 4)} bytes` : "";
  return `[${String(type)}${typeof mimeType === "string" ? ` ${mimeType}` : ""}${size}]`;
};

type PromptParts = Pick<ApprovalPrompt, "subject" | "reasons" | "choices">;

const formPrompt = (
  { message, seemsSecret }: Extract<Elicitation, { readonly type: "form" }>,
  fields: readonly FormField[] | string,
): PromptParts => {
  if (typeof fields === "string")
    return {
      subject: { type: "text", text: message },
      reasons: [`It cannot be answered here. ${fields}`],
      choices: [],
    };
  const wanted = fields.map(
    ({ title, description, isRequired }) =>
      `- ${title}${isRequired ? " (required)" : ""}${description === "" ? "" : `: ${description}`}`,
  );
  return {
    subject: {
      type: "text",
      text: [message, ...(wanted.length === 0 ? [] : ["It wants to know:", ...wanted])].join("\n"),
    },
    reasons: seemsSecret ? [secretWarning] : [],
    choices: [{ id: "yes", key: "y", label: answerLabel(fields.length, seemsSecret) }],
  };
};

const secretWarning =
  'It seems to ask for a password, a key or the like. Servers must not do that in a form: "No" is the sane answer.';

const answerLabel = (count: number, seemsSecret: boolean): string => {
  if (count === 0) return "Yes";
  return seemsSecret ? "Answer all the same" : "Answer";
};

const filledField = ({ name, title, kind, isSecret }: FormField, content: FormContent): string => {
  const value = content[name];
  if (value === undefined) return `- ${title}: (left out)`;
  if (typeof value === "boolean") return `- ${title}: ${value ? "yes" : "no"}`;
  if (typeof value === "number") return `- ${title}: ${value}`;
  const titleOf = (each: string): string =>
    kind.type === "choice" || kind.type === "choices"
      ? (kind.choices.find((option) => option.value === each)?.title ?? each)
      : sanitizeForTerminal(each, "line");
  const text = typeof value === "string" ? titleOf(value) : value.map(titleOf).join(", ");
  return `- ${title}: ${isSecret ? maskSecret(text) : text === "" ? "(none)" : text}`;
};
