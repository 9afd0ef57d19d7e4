import type { Note } from "../src/conversation/notes.ts";
import { sanitizeForTerminal } from "../src/policy/terminal/sanitize.ts";
import { destinationOf } from "../src/providers/find.ts";
import { convertRequest, inferWire } from "../src/providers/request.ts";
import { lint } from "../src/rules/lint.ts";
import type { Finding, RuleWire } from "../src/rules/rule.ts";

/** The findings of the rules about a body, and its converted form. */
export type LintedBody =
  | { readonly type: "error"; readonly message: string }
  | {
      readonly type: "linted";
      readonly wire: RuleWire;
      readonly findings: readonly Finding[];
      readonly model: string;
      readonly notes: readonly Note[];
      readonly converted: string;
      readonly convertedFindings: readonly Finding[];
    };

/** Checks a request body against the rules of its API, and converts it for a model. All texts are sanitized. */
export const lintBody = (text: string, from: string, to: string): LintedBody =>
  JSON.parse(JSON.stringify(checkBody(text, from, to)), (_, value: unknown) =>
    typeof value === "string" ? sanitizeForTerminal(value) : value,
  ) as LintedBody;

const checkBody = (text: string, from: string, to: string): LintedBody => {
  try {
    const body = JSON.parse(text) as unknown;
    if (typeof body !== "object" || body === null) return { type: "error", message: "A body is a JSON object." };
    const wire = from === "" ? inferWire(body) : (from as RuleWire);
    if (wire === undefined) return { type: "error", message: "Cannot detect the API of this body. Choose it above." };
    const { target, wire: bound } = destinationOf(to);
    const { body: converted, report } = convertRequest(body, wire, to, { policy: { unsupportedMedia: "stub" } });
    return {
      type: "linted",
      wire,
      findings: lint(body, { wire }),
      model: `${target.provider}/${target.model}`,
      notes: report.notes,
      converted: JSON.stringify(converted, undefined, 2),
      convertedFindings: lint(converted, { wire: bound.id, provider: target.provider, model: target.model }),
    };
  } catch (error) {
    return { type: "error", message: error instanceof Error ? error.message : String(error) };
  }
};
