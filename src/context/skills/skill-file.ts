import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import { listArgumentNames, parseFrontMatter, splitFrontMatter, type FrontMatter } from "../front-matter.ts";

/** A skill as its SKILL.md describes it (agentskills.io). */
export type SkillDescription = {
  readonly name: string;
  /** Its purpose and when to use it, for the model that selects one. */
  readonly description: string;
  /** Whether models may activate it; otherwise only the person. */
  readonly isForModels: boolean;
  /** Whether the person may activate it with `/name`. */
  readonly isForPeople: boolean;
  /** The arguments it expects, for people. */
  readonly usage?: string;
  /** Names for `$name`, by the place of the argument. */
  readonly argumentNames?: readonly string[];
  /** The instructions, with placeholders. */
  readonly body: string;
  /** How the file differs from the specification, and fields without effect here. */
  readonly problems: readonly SkillProblem[];
};

/** A problem of a skill file. An error violates the specification; a warning is a field without effect. */
export type SkillProblem = { readonly severity: "error" | "warning"; readonly message: string };

/** Why a file is no skill. */
export type InvalidSkill = { readonly problem: string };

/** Parses a SKILL.md. `folderName` is the name the skill must have. Lenient: only a missing description is fatal. */
export const parseSkillFile = async (text: string, folderName: string): Promise<SkillDescription | InvalidSkill> => {
  const file = splitFrontMatter(text);
  if (file === undefined) return { problem: "its front matter is missing" };
  let fields: FrontMatter;
  try {
    fields = await parseFrontMatter(file.front);
  } catch (error) {
    return {
      problem: `its front matter is not valid YAML (${error instanceof Error ? firstLine(error.message) : ""})`,
    };
  }
  const description = textField(fields, "description");
  if (description === undefined) return { problem: "it has no description" };
  const given = textField(fields, "name");
  const name = [given, folderName, toSkillName(folderName)].find((each) => each !== undefined && isUsableName(each));
  if (name === undefined) return { problem: `"${folderName.slice(0, 64)}" is not a valid skill name` };
  const usage = textField(fields, "argument-hint");
  return {
    name,
    description: oneLine(sanitizeForTerminal(description)),
    isForModels: fields["disable-model-invocation"] !== true,
    isForPeople: fields["user-invocable"] !== false,
    ...(usage === undefined ? {} : { usage: oneLine(usage).slice(0, 80) }),
    ...listArgumentNames(fields["arguments"]),
    body: file.body.trim(),
    problems: [...findViolations(fields, file.body, folderName), ...findIgnoredFields(fields)],
  };
};

/** Whether a name follows the specification: up to 64 lower-case letters of any script, digits and single hyphens. */
const isSkillName = (name: string): boolean =>
  isUsableName(name) && /^[\p{L}\p{N}]+(-[\p{L}\p{N}]+)*$/u.test(name) && name === name.toLowerCase();

/** Whether a skill can be called so, although the specification may be stricter. Letters that look like Latin ones are not mixed with them. */
const isUsableName = (name: string): boolean =>
  /^[\p{L}\p{N}_][\p{L}\p{N}_-]{0,63}$/u.test(name) &&
  name === name.normalize("NFKC") &&
  !(/\p{Script=Latin}/u.test(name) && /[\p{Script=Cyrillic}\p{Script=Greek}]/u.test(name));

/** A name for a folder whose own name cannot be used. */
const toSkillName = (folderName: string): string =>
  folderName
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_]+/gu, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, 64);

const findViolations = (fields: FrontMatter, body: string, folderName: string): readonly SkillProblem[] => {
  const name = fields["name"];
  const limits = [
    ["description", 1024],
    ["compatibility", 500],
  ] as const;
  const messages = [
    ...(typeof name !== "string"
      ? ["name is missing."]
      : !isSkillName(name)
        ? ["name must have 1 to 64 lower-case letters, digits and single hyphens."]
        : name !== folderName
          ? [`name is "${name}", but the folder is "${folderName.slice(0, 64)}".`]
          : []),
    ...limits.flatMap(([field, limit]) => {
      const length = textField(fields, field)?.length ?? 0;
      return length > limit ? [`${field} has ${length} characters; the limit is ${limit}.`] : [];
    }),
    ...(fields["metadata"] === undefined || isTextMap(fields["metadata"]) ? [] : ["metadata must map names to texts."]),
  ];
  return [
    ...messages.map((message) => ({ severity: "error", message }) as const),
    ...(body.trim() === "" ? [{ severity: "warning", message: "The body is empty." } as const] : []),
  ];
};

/** Fields of other agents that have no effect here, with what happens instead. */
const ignoredFields: { readonly [field: string]: string } = {
  "allowed-tools": "grants nothing: tool calls need approval as usual.",
  "disallowed-tools": "is not applied: use deny rules.",
  model: "is ignored: a skill runs on the session's model.",
  effort: "is ignored.",
  context: "is ignored: a skill runs in the session, not in a subagent.",
  agent: "is ignored.",
  hooks: "are ignored.",
  paths: "are ignored: the skill is always listed.",
  shell: "is ignored.",
};

const knownFields = new Set([
  "name",
  "description",
  "license",
  "compatibility",
  "metadata",
  "argument-hint",
  "arguments",
  "disable-model-invocation",
  "user-invocable",
]);

const findIgnoredFields = (fields: FrontMatter): readonly SkillProblem[] =>
  Object.keys(fields)
    .filter((field) => !knownFields.has(field))
    .map((field) => ({
      severity: "warning",
      message: `${field.slice(0, 64)} ${Object.hasOwn(ignoredFields, field) ? ignoredFields[field] : "is unknown and ignored."}`,
    }));

const isTextMap = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  // YAML reads `version: 1.0` as a number; the reference validator takes it as text.
  Object.values(value).every((each) => typeof each !== "object");

const textField = (fields: FrontMatter, name: string): string | undefined => {
  const value = fields[name];
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
};

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ");

const firstLine = (text: string): string => text.split("\n", 1)[0] ?? "";
