import { lint as findingsIn } from "../../rules/lint.ts";
import type { Finding, RuleTarget, RuleWire } from "../../rules/rule.ts";
import type { Arguments } from "../parse-arguments.ts";
import type { CommandHandler } from "../commands.ts";
import { UserError } from "../user-error.ts";
import { describeValue, readJson } from "../json/read.ts";
import { sanitizeLine } from "../text-table.ts";

/** `parley lint`: what an API would refuse in a request body. */
export const lint: CommandHandler = async (given) => {
  const named = await namedTarget(given);
  const body = await readJson(given.positionals[0]!);
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw new UserError(`This is ${describeValue(body)}, not a request body. A body is a JSON object.`);
  const { provider, model = "model" in body ? undefined : named.defaultModel } = named;
  const target: RuleTarget = {
    wire: named.wire ?? (await inferRuleWire(body)),
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
  };
  const findings = findingsIn(body, target);
  process.stdout.write(
    given.has("json") ? `${JSON.stringify({ findings }, null, 2)}\n` : formatFindings(findings, target),
  );
  return findings.some(({ level }) => level === "error") ? 1 : 0;
};

/** What the options say. A provider's default model is meant only when neither they nor the body name one. */
type NamedTarget = Partial<RuleTarget> & { readonly defaultModel?: string };

/** The target as far as the options name it. What providers/ knows is loaded only when it is asked. */
const namedTarget = async (given: Arguments): Promise<NamedTarget> => {
  const wire = given.value("wire");
  const to = given.value("for");
  if (to === undefined && (wire === undefined || isWire(wire))) return wire === undefined ? {} : { wire };
  const { destinationOf, findWire } = await import("../../providers/find.ts");
  const { UnknownNameError } = await import("../../providers/unknown-name.ts");
  try {
    const named = wire === undefined ? undefined : findWire(wire);
    if (to === undefined) return named === undefined ? {} : { wire: named };
    const { target, wire: bound } = destinationOf(to);
    const { provider, model } = target;
    return { wire: named ?? bound.id, provider, ...(to.includes("/") ? { model } : { defaultModel: model }) };
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
      `It is not obvious which API this body is written for. Say so with --wire: ${Object.keys(families).join(", ")}.`,
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

/** Complaints quote the body. */
const formatFinding = ({ pointer, rule, message, level, effect }: Finding): string =>
  sanitizeLine(`${pointer === "" ? "(body)" : pointer}  ${rule}  ${message}  [${level}, ${effect}]`);
