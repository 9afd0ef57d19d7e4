import { isObject } from "../../conversation/json.ts";
import type { Elicitation, FormContent, SamplingRequest } from "../../mcp/requests/handlers.ts";
import { readForm, type FormField } from "../../mcp/requests/form.ts";
import { judgeUrl } from "../../policy/network/judge-url.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import { createRedactor } from "../../policy/secrets/redact.ts";
import type { ApprovalPrompt } from "./approval.ts";
import { maskSecret } from "./form-view.ts";
import type { NumberedQuestion } from "./user-question.ts";

/** A question of an MCP server, of the model, or of the agent itself: whether a model that repeats itself should continue. */
export type ServerRequest =
  | ({ readonly type: "sampling" } & SamplingRequest)
  | Elicitation
  | { readonly type: "continue"; readonly message: string }
  /** A question of the model (`ask_user`). */
  | ({ readonly type: "question" } & NumberedQuestion);

/** The name of who request. */
export const askerName = (request: ServerRequest): string => {
  if (request.type === "continue") return "Parley";
  return request.type === "question" ? "The model" : `MCP server ${sanitizeForTerminal(request.server, "line")}`;
};

/** The first prompt of a server question. `model` is the one that would answer. */
export const initialPrompt = (
  request: ServerRequest,
  { model, waiting }: { readonly model: string; readonly waiting: number },
): ApprovalPrompt => {
  const base = { title: `${askerName(request)} asks`, reasons: [], noLabel: "No", waiting };
  switch (request.type) {
    case "sampling":
      return {
        ...base,
        subject: { type: "text", text: samplingText(request, model) },
        choices: [{ id: "yes", key: "y", label: "Yes" }],
      };
    case "continue":
      return {
        ...base,
        noLabel: "No, stop",
        subject: { type: "text", text: sanitizeForTerminal(request.message, "line") },
        choices: [{ id: "yes", key: "y", label: "Yes, continue" }],
      };
    case "question":
      return { ...base, subject: { type: "text", text: request.question.question }, choices: [] };
    case "url":
      return {
        ...base,
        subject: { type: "url", text: `${request.message}\nIt asks you to open this URL:`, url: request.url },
        reasons: [judgeUrl(request.url).reason].filter((reason) => reason !== ""),
        choices: [{ id: "yes", key: "o", label: "Open it in a browser" }],
      };
    case "form":
      return { ...base, ...formPrompt(request, readForm(request.schema)) };
  }
};

/** The review of an answer before it is sent. Secrets are masked. */
export const reviewPrompt = (
  request: ServerRequest,
  { fields, content }: { readonly fields: readonly FormField[]; readonly content: FormContent },
  waiting: number,
): ApprovalPrompt => {
  const { containsSecret } = createRedactor();
  const suspects = fields.filter(({ name }) => containsSecret(String(content[name] ?? "")));
  return {
    title: `${askerName(request)} asks`,
    subject: {
      type: "text",
      text: ["Your answer:", ...fields.map((field) => filledField(field, content))].join("\n"),
    },
    reasons: suspects.map(({ title }) => `Your answer to ${title} looks like a secret.`),
    choices: [
      { id: "yes", key: "y", label: "Yes, send it" },
      { id: "edit", key: "e", label: "Edit" },
    ],
    noLabel: "No, don't send",
    waiting,
  };
};

/** Describes a sampling request completely: the cost, the system prompt and every message. */
export const samplingText = ({ system, messages, maxTokens }: SamplingRequest, model: string): string =>
  [
    `It wants ${model} to answer this, at your cost, in at most ${maxTokens} tokens. The answer goes to the server, not into the conversation.`,
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
      reasons: [`Cannot be answered here. ${fields}`],
      choices: [],
    };
  const wanted = fields.map(
    ({ title, description, isRequired }) =>
      `- ${title}${isRequired ? " (required)" : ""}${description === "" ? "" : `: ${description}`}`,
  );
  return {
    subject: {
      type: "text",
      text: [message, ...(wanted.length === 0 ? [] : ["It asks for:", ...wanted])].join("\n"),
    },
    reasons: seemsSecret ? [secretWarning] : [],
    choices: [{ id: "yes", key: "y", label: answerLabel(fields.length, seemsSecret) }],
  };
};

const secretWarning =
  'This looks like a request for a password or key. Servers must not ask for secrets in a form: answer "No".';

const answerLabel = (count: number, seemsSecret: boolean): string => {
  if (count === 0) return "Yes";
  return seemsSecret ? "Answer anyway" : "Answer";
};

const filledField = ({ name, title, kind, isSecret }: FormField, content: FormContent): string => {
  const value = content[name];
  if (value === undefined) return `- ${title}: (skipped)`;
  if (typeof value === "boolean") return `- ${title}: ${value ? "yes" : "no"}`;
  if (typeof value === "number") return `- ${title}: ${value}`;
  const titleOf = (each: string): string =>
    kind.type === "choice" || kind.type === "choices"
      ? (kind.choices.find((option) => option.value === each)?.title ?? each)
      : sanitizeForTerminal(each, "line");
  const text = typeof value === "string" ? titleOf(value) : value.map(titleOf).join(", ");
  return `- ${title}: ${isSecret ? maskSecret(text) : text === "" ? "(none)" : text}`;
};
