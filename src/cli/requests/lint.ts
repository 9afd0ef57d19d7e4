import { lint as findProblems } from "../../rules/lint.ts";
import type { Finding, RuleTarget, RuleWire } from "../../rules/rule.ts";
import type { Arguments, CommandHandler } from "../command.ts";
import { UserError } from "../user-error.ts";
import { describeValue, readJson } from "../json/read.ts";
import { sanitizeLine } from "../text-table.ts";

/** `parley lint`: checks a request body against the rules of its API. */
export const lint: CommandHandler = async (args) => {
  const named = await readNamedTarget(args);
  const body = await readJson(args.positionals[0]!);
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw new UserError(`This is ${describeValue(body)}, not a request body. A body is a JSON object.`);
  const { provider, model = "model" in body ? undefined : named.defaultModel } = named;
  const target: RuleTarget = {
    wire: named.wire ?? (await inferRuleWire(body)),
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
  };
  const findings = findProblems(body, target);
  process.stdout.write(
    args.has("json") ? `${JSON.stringify({ findings }, null, 2)}\n` : formatFindings(findings, target),
  );
  return findings.some(({ level }) => level === "error") ? 1 : 0;
};

/** The target as named by options. The provider's default model is used only if neither options nor body name one. */
type NamedTarget = Partial<RuleTarget> & { readonly defaultModel?: string };

/** Reads the target from the options. providers/ is loaded only if needed. */
const readNamedTarget = async (args: Arguments): Promise<NamedTarget> => {
  const wire = args.value("wire");
  const to = args.value("for");
  if (to === undefined && (wire === undefined || isWire(wire))) return wire === undefined ? {} : { wire };
  const { destinationOf, findWire } = await import("../../providers/find.ts");
  const { UnknownNameError } = await import("../../providers/unknown-name.ts");
  try {
    const namedWire = wire === undefined ? undefined : findWire(wire);
    if (to === undefined) return namedWire === undefined ? {} : { wire: namedWire };
    const { target, wire: bound } = destinationOf(to);
    const { provider, model } = target;
    return { wire: namedWire ?? bound.id, provider, ...(to.includes("/") ? { model } : { defaultModel: model }) };
  } catch (error) {
    if (error instanceof UnknownNameError) throw new UserError(error.message);
    throw error;
  }
};

const families: Readonly<Record<RuleWire, true>> = {
  gemini: true,
  anthropic: true,
  bedrock: true,
  "openai-chat": true,
  "openai-responses": true,
};

const isWire = (name: string): name is RuleWire => Object.hasOwn(families, name);

const inferRuleWire = async (body: unknown): Promise<RuleWire> => {
  const { inferWire } = await import("../../providers/request.ts");
  const wire = inferWire(body);
  if (wire === undefined)
    throw new UserError(
      `Cannot detect the API of this body. Use --wire with one of: ${Object.keys(families).join(", ")}.`,
    );
  return wire;
};

const formatFindings = (findings: readonly Finding[], { wire, provider, model }: RuleTarget): string => {
  const errors = findings.filter(({ level }) => level === "error").length;
  const advice = findings.length - errors;
  const counts = [
    ...(errors === 0 ? [] : [`${errors} ${errors === 1 ? "error" : "errors"}`]),
    ...(advice === 0 ? [] : [`${advice} advice`]),
  ];
  const target = [wire, ...(provider === undefined ? [] : [`${provider}${model === undefined ? "" : `/${model}`}`])];
  return [...findings.map(formatFinding), `${counts.join(", ") || "clean"} (${target.join(", ")})`, ""].join("\n");
};

/** Formats a finding on one line. Messages quote the body, so they are sanitized. */
const formatFinding = ({ pointer, rule, message, level, effect }: Finding): string =>
  sanitizeLine(`${pointer === "" ? "(body)" : pointer}  ${rule}  ${message}  [${level}, ${effect}]`);
