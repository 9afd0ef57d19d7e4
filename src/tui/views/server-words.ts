import { isObject } from "../../conversation/json.ts";
import type { Elicitation, FormContent, SamplingRequest } from "../../mcp/asking.ts";
import { readForm, type FormField } from "../../mcp/form.ts";
import { judgeUrl } from "../../policy/network.ts";
import { plain } from "../../policy/plain.ts";
import { createRedactor } from "../../policy/redact.ts";
import type { Approval } from "./approval.ts";
import { dots } from "./form-view.ts";

/** What an MCP server asks of a person, or the agent itself: whether a model that repeats itself should continue. */
export type ServerAsks =
  | ({ readonly type: "sampling" } & SamplingRequest)
  | Elicitation
  | { readonly type: "continue"; readonly message: string };

/** Who asks, as people are told. */
export const askerOf = (asks: ServerAsks): string =>
  asks.type === "continue" ? "Parley" : `The MCP server ${plain(asks.server, "line")}`;

/** A server's question as it is first put. `model` is the one that would answer. */
export const openingOf = (
  asks: ServerAsks,
  { model, waiting }: { readonly model: string; readonly waiting: number },
): Approval => {
  const base = { who: askerOf(asks), reasons: [], no: "No", waiting };
  switch (asks.type) {
    case "sampling":
      return {
        ...base,
        what: { type: "text", text: samplingText(asks, model) },
        choices: [{ id: "yes", key: "y", label: "Yes, this once" }],
      };
    case "continue":
      return {
        ...base,
        no: "No, stop it",
        what: { type: "text", text: plain(asks.message, "line") },
        choices: [{ id: "yes", key: "y", label: "Yes, continue" }],
      };
    case "url":
      return {
        ...base,
        what: { type: "address", text: `${asks.message}\nIt wants you to open this address:`, url: asks.url },
        reasons: [judgeUrl(asks.url).reason].filter((reason) => reason !== ""),
        choices: [{ id: "yes", key: "o", label: "Open it in a browser" }],
      };
    case "form":
      return { ...base, ...formOpening(asks, readForm(asks.schema)) };
  }
};

/** What was filled in, before it is sent. Secrets are not shown. */
export const reviewOf = (
  asks: ServerAsks,
  { fields, content }: { readonly fields: readonly FormField[]; readonly content: FormContent },
  waiting: number,
): Approval => {
  const { finds } = createRedactor();
  const suspects = fields.filter(({ name }) => finds(String(content[name] ?? "")));
  return {
    who: askerOf(asks),
    what: {
      type: "text",
      text: ["It would be sent this:", ...fields.map((field) => filled(field, content))].join("\n"),
    },
    reasons: suspects.map(({ title }) => `What you entered for ${title} looks like a secret.`),
    choices: [
      { id: "yes", key: "y", label: "Yes, send it" },
      { id: "edit", key: "e", label: "Change it" },
    ],
    no: "No, send nothing",
    waiting,
  };
};

const samplingText = ({ system, messages, maxTokens }: SamplingRequest, model: string): string =>
  [
    `It wants ${model} to answer this, at your cost, in at most ${maxTokens} tokens. It gets the answer; nothing of it enters the conversation.`,
    ...(system === undefined ? [] : ["system:", indented(system)]),
    ...messages.flatMap(({ role, content }) => [`${role}:`, indented([content].flat().map(pieceText).join("\n"))]),
  ].join("\n");

/** What a server wrote stands apart from what we say of it. */
const indented = (text: string): string =>
  plain(text, "visible")
    .split("\n")
    .map((each) => `  ${each}`)
    .join("\n");

const pieceText = (piece: unknown): string => {
  const { type, text, data, mimeType } = isObject(piece) ? piece : {};
  if (type === "text" && typeof text === "string") return text;
  const size = typeof data === "string" ? `, ${Math.floor((data.length * 3) / 4)} bytes` : "";
  return `[${String(type)}${typeof mimeType === "string" ? ` ${mimeType}` : ""}${size}]`;
};

type Opening = Pick<Approval, "what" | "reasons" | "choices">;

const formOpening = (
  { message, seemsSecret }: Extract<Elicitation, { readonly type: "form" }>,
  fields: readonly FormField[] | string,
): Opening => {
  if (typeof fields === "string")
    return { what: { type: "text", text: message }, reasons: [`It cannot be answered here. ${fields}`], choices: [] };
  const wanted = fields.map(
    ({ title, about, isRequired }) => `- ${title}${isRequired ? " (required)" : ""}${about === "" ? "" : `: ${about}`}`,
  );
  return {
    what: {
      type: "text",
      text: [message, ...(wanted.length === 0 ? [] : ["It wants to know:", ...wanted])].join("\n"),
    },
    reasons: seemsSecret ? [secretWarning] : [],
    choices: [{ id: "yes", key: "y", label: answerWords(fields.length, seemsSecret) }],
  };
};

const secretWarning =
  'It seems to ask for a password, a key or the like. Servers must not do that in a form: "No" is the sane answer.';

const answerWords = (count: number, seemsSecret: boolean): string => {
  if (count === 0) return "Yes";
  return seemsSecret ? "Answer all the same" : "Answer";
};

const filled = ({ name, title, kind, seemsSecret }: FormField, content: FormContent): string => {
  const value = content[name];
  if (value === undefined) return `- ${title}: (left out)`;
  if (typeof value === "boolean") return `- ${title}: ${value ? "yes" : "no"}`;
  if (typeof value === "number") return `- ${title}: ${value}`;
  const titleOf = (each: string): string =>
    kind.type === "choice" || kind.type === "choices"
      ? (kind.of.find((option) => option.value === each)?.title ?? each)
      : plain(each, "line");
  const text = typeof value === "string" ? titleOf(value) : value.map(titleOf).join(", ");
  return `- ${title}: ${seemsSecret ? dots(text) : text === "" ? "(none)" : text}`;
};
