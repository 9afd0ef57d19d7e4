import type { RuleTarget } from "../rule.ts";

/** The differences between Claude models. */
export type ClaudeModel = {
  /** The conversation may end with an assistant message for the model to continue. */
  readonly prefill: boolean;
  /** Messages of the role `system` are allowed inside the conversation. */
  readonly systemRole: boolean;
  /** `tool_choice` may force a call. */
  readonly forcedTool: boolean;
  /** `free`: temperature and top_p together; `one`: one of them; `none`: defaults only. */
  readonly sampling: "free" | "one" | "none";
  /** Values of `thinking.type` it takes. */
  readonly thinking: readonly string[];
  /** Values of `output_config.effort` it takes. */
  readonly effort: readonly string[];
  /** The efforts it takes while thinking is disabled. */
  readonly effortUnthinking: readonly string[];
};

/**
 * The model a body is meant for, in any platform's spelling. A missing name means the newest generation.
 *
 * Names that are not Claude's belong to other vendors behind the same API, of which nothing is assumed.
 */
export const claudeModel = (body: unknown, target: RuleTarget): ClaudeModel => {
  const name = target.model ?? modelField(body);
  return name === undefined ? newest : (findClaude(name) ?? lenient);
};

/** Finds a Claude model by name; undefined when the name is not Claude's. */
export const findClaude = (name: string): ClaudeModel | undefined => {
  const parsed = parseClaude(name);
  return parsed === undefined ? undefined : capabilities(parsed);
};

const modelField = (body: unknown): string | undefined => {
  const model = typeof body === "object" && body !== null && "model" in body ? body.model : undefined;
  return typeof model === "string" ? model : undefined;
};

type ParsedClaudeName = { readonly line: string; readonly version: number };

/** `claude-opus-4-6`, `claude-3-5-sonnet-20241022`, `us.anthropic.claude-sonnet-4-20250514-v1:0`, `claude-mythos-preview`. */
const parseClaude = (name: string): ParsedClaudeName | undefined => {
  const late = /claude-(opus|sonnet|haiku|fable|mythos)-(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?/.exec(name);
  if (late !== null) return { line: late[1] ?? "", version: Number(late[2]) * 100 + Number(late[3] ?? 0) };
  const early = /claude-(\d)(?:[-.](\d))?-(opus|sonnet|haiku)/.exec(name);
  if (early !== null) return { line: early[3] ?? "", version: Number(early[1]) * 100 + Number(early[2] ?? 0) };
  return /claude-mythos-preview/.test(name) ? { line: "mythos", version: 406 } : undefined;
};

const capabilities = ({ line, version }: ParsedClaudeName): ClaudeModel => ({
  prefill: version < 406,
  systemRole: line === "sonnet" ? version > 500 : line === "opus" ? version >= 408 : version >= 500,
  forcedTool: line === "haiku" || version < (line === "opus" || line === "sonnet" ? 505 : 501),
  sampling: version >= 407 ? "none" : version >= 405 || (line === "opus" && version >= 401) ? "one" : "free",
  thinking: thinkingModes(line, version),
  effort: effortLevels(line, version),
  effortUnthinking: line === "opus" && version >= 500 ? ["low", "medium", "high"] : everyEffort,
});

const thinkingModes = (line: string, version: number): readonly string[] => {
  const always = version >= (line === "fable" || line === "mythos" ? 500 : line === "haiku" ? Infinity : 505);
  const budget = version >= 307 && version < 407 ? ["enabled"] : [];
  const adaptive = version >= 406 ? ["adaptive"] : [];
  const between = version >= 505 ? ["between_tools"] : [];
  return [...budget, ...adaptive, ...between, ...(always ? [] : ["disabled"])];
};

const effortLevels = (line: string, version: number): readonly string[] => {
  if (version < 405 || (version === 405 && line !== "opus")) return [];
  return version === 405 ? ["low", "medium", "high"] : version === 406 ? ["low", "medium", "high", "max"] : everyEffort;
};

const everyEffort: readonly string[] = ["low", "medium", "high", "xhigh", "max"];
const everyThinking: readonly string[] = ["enabled", "adaptive", "between_tools", "disabled"];

const newest: ClaudeModel = {
  ...capabilities({ line: "opus", version: 505 }),
  thinking: ["adaptive", "between_tools", "disabled"],
};

const lenient: ClaudeModel = {
  prefill: true,
  systemRole: true,
  forcedTool: true,
  sampling: "free",
  thinking: everyThinking,
  effort: everyEffort,
  effortUnthinking: everyEffort,
};
