import {
  type LocatedValue,
  isEnumNumber,
  emptyField,
  partsOf,
  pick,
  repeatedField,
  requestIn,
  snakeCase,
  textIn,
} from "./body.ts";
import { geminiModel } from "./models.ts";
import type { RuleTarget } from "../rule.ts";
import { type Check, asString, isObject } from "../walk.ts";

/** One function declaration, with its place as the vendor's messages name it. */
export type DeclaredFunction = { readonly at: LocatedValue; readonly path: string; readonly name: string | undefined };

/** Every function declaration of the body. */
export function* declarationsOf(body: unknown, target: RuleTarget): Generator<DeclaredFunction> {
  for (const [tool, found] of toolsOf(body, target).entries()) {
    for (const [index, at] of repeatedField(pick(found, "functionDeclarations")).entries()) {
      yield { at, path: `tools[${tool}].function_declarations[${index}]`, name: textIn(at, "name") };
    }
  }
}

const toolsOf = (body: unknown, target: RuleTarget): readonly LocatedValue[] =>
  repeatedField(pick(requestIn(body, target), "tools"));

/** Tools are objects of known kinds, and declarations have only known fields. */
export const checkToolShape: Check = (body, report, target) => {
  const tools = pick(requestIn(body, target), "tools");
  if (tools !== undefined && !Array.isArray(tools.value) && !isObject(tools.value))
    report(tools.pointer, "Invalid value at 'tools' (repeated field)");
  repeatedField(tools).forEach((tool, index) => {
    if (!isObject(tool.value)) report(tool.pointer, `Invalid value at 'tools[${index}]' (Tool)`);
    else
      for (const key of unknownKeys(tool, toolKinds))
        report(`${tool.pointer}/${key}`, unknownName(key, `tools[${index}]`));
  });
  for (const { at, path } of declarationsOf(body, target)) {
    if (!isObject(at.value)) report(at.pointer, `Invalid value at '${path}' (FunctionDeclaration)`);
    for (const key of unknownKeys(at, declarationFields)) report(`${at.pointer}/${key}`, unknownName(key, path));
  }
};

const unknownKeys = (from: LocatedValue, known: ReadonlySet<string>): readonly string[] =>
  isObject(from.value) ? Object.keys(from.value).filter((key) => !known.has(key)) : [];

const unknownName = (key: string, path: string): string =>
  `Invalid JSON payload received. Unknown name "${key}" at '${path}': Cannot find field.`;

const spellings = (names: string): ReadonlySet<string> =>
  new Set(names.split(" ").flatMap((name) => [name, snakeCase(name)]));

const toolKinds = spellings(
  "functionDeclarations googleSearch googleSearchRetrieval codeExecution urlContext computerUse fileSearch googleMaps retrieval enterpriseWebSearch " +
    "exaAiSearch parallelAiSearch mcpServers",
);
/** Computer use may be combined with functions; the others may not. */
const aloneKinds: ReadonlySet<string> = new Set([...toolKinds].filter((key) => !/^(function|computer)/.test(key)));
const declarationFields = spellings(
  "name description parameters parametersJsonSchema response responseJsonSchema behavior",
);

/** A declared name matches the API's pattern. */
export const checkToolName: Check = (body, report, target) => {
  for (const { at, path, name } of declarationsOf(body, target)) {
    if (!isObject(at.value) || (name !== undefined && /^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/.test(name))) continue;
    report(
      pick(at, "name")?.pointer ?? at.pointer,
      `* GenerateContentRequest.${path}.name: [FIELD_INVALID] ${nameText}`,
    );
  }
};

const nameText =
  "Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.";

/** Every version and backend accepts a name of at most 64 letters, digits, underscores and dashes. */
export const checkPortableName: Check = (body, report, target) => {
  for (const { at, name } of declarationsOf(body, target)) {
    if (
      name === undefined ||
      !/^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/.test(name) ||
      /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(name)
    )
      continue;
    report(
      pick(at, "name")?.pointer ?? at.pointer,
      `The function name ${JSON.stringify(name)} is over 64 characters or has dots or colons: some versions refuse it.`,
    );
  }
};

/** Declared names are unique. */
export const checkDuplicateTool: Check = (body, report, target) => {
  const seen = new Set<string>();
  for (const { at, name } of declarationsOf(body, target)) {
    if (name === undefined) continue;
    if (seen.has(name))
      report(pick(at, "name")?.pointer ?? at.pointer, `Duplicate function declaration found: ${name}`);
    seen.add(name);
  }
};

/** The number of declarations is within the API's limit. */
export const checkToolCount: Check = (body, report, target) => {
  const count = [...declarationsOf(body, target)].length;
  if (count > 512)
    report(
      pick(requestIn(body, target), "tools")?.pointer ?? "",
      `At most 512 function declarations can be specified, got ${count}.`,
    );
};

/** The function calling mode is a known one. */
export const checkCallingMode: Check = (body, report, target) => {
  const mode = callingConfig(body, target, "mode");
  if (mode === undefined || isEnumNumber(mode.value, callingModes)) return;
  if (typeof mode.value === "string" && callingModes.has(mode.value.toUpperCase())) return;
  report(
    mode.pointer,
    `Invalid value at 'tool_config.function_calling_config.mode' (Mode), ${JSON.stringify(mode.value)?.slice(0, 40)}`,
  );
};

const callingModes = new Set(["MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED"]);

const callingConfig = (body: unknown, target: RuleTarget, name: string): LocatedValue | undefined => {
  const config = pick(pick(requestIn(body, target), "toolConfig") ?? emptyField, "functionCallingConfig");
  return pick(config ?? emptyField, name);
};

/** Allowed function names need a mode that forces a call, and name declared functions. */
export const checkAllowedNames: Check = (body, report, target) => {
  const allowed = callingConfig(body, target, "allowedFunctionNames");
  if (allowed === undefined || !Array.isArray(allowed.value) || allowed.value.length === 0) return;
  const mode = asString(callingConfig(body, target, "mode")?.value)?.toUpperCase() ?? "AUTO";
  if (mode === "AUTO" || mode === "NONE")
    report(
      allowed.pointer,
      "Allowed function names should only be set when function calling mode is ANY or VALIDATED.",
    );
  if (pick(requestIn(body, target), "cachedContent") !== undefined) return;
  const declared = new Set<unknown>([...declarationsOf(body, target)].map(({ name }) => name));
  allowed.value.forEach((name, index) => {
    if (!declared.has(name))
      report(
        `${allowed.pointer}/${index}`,
        `Allowed function name ${JSON.stringify(name)} is not among the function declarations.`,
      );
  });
};

/** A request with cached content has no system instruction and no tools; the cache contains them. */
export const checkCachedContent: Check = (body, report, target) => {
  const request = requestIn(body, target);
  if (pick(request, "cachedContent") === undefined) return;
  for (const name of ["systemInstruction", "tools", "toolConfig"]) {
    const found = pick(request, name);
    if (found !== undefined)
      report(
        found.pointer,
        "CachedContent can not be used with GenerateContent request setting system_instruction, tools or tool_config.",
      );
  }
};

/** Built-in tools and functions are combined only where the model supports it. */
export const checkMixedTools: Check = (body, report, target) => {
  const [first] = declarationsOf(body, target);
  const builtIn = toolsOf(body, target).find(
    ({ value }) => isObject(value) && Object.keys(value).some((key) => aloneKinds.has(key) && value[key] !== null),
  );
  if (first === undefined || builtIn === undefined) return;
  const opened =
    pick(pick(requestIn(body, target), "toolConfig") ?? emptyField, "includeServerSideToolInvocations")?.value === true;
  if (geminiModel(body, target).soloFunctions)
    report(builtIn.pointer, "Tool use with function calling is unsupported by the model.");
  else if ((target.provider ?? "google") === "google" && !opened) {
    report(
      builtIn.pointer,
      "Please enable tool_config.include_server_side_tool_invocations to use Built-in tools with Function calling.",
    );
  }
};

/** JSON output and functions are combined only where the model supports it. */
export const checkJsonAnswer: Check = (body, report, target) => {
  const [first] = declarationsOf(body, target);
  const mime = pick(pick(requestIn(body, target), "generationConfig") ?? emptyField, "responseMimeType");
  if (first === undefined || mime?.value !== "application/json" || !geminiModel(body, target).soloFunctions) return;
  report(mime.pointer, "Function calling with a response mime type: 'application/json' is unsupported");
};

/** An image-only model gets no functions, neither declared nor in its history. */
export const checkDrawingModel: Check = (body, report, target) => {
  if (!geminiModel(body, target).drawsOnly) return;
  const [declared] = declarationsOf(body, target);
  if (declared !== undefined)
    report(declared.at.pointer, `Function calling is not enabled for ${target.model ?? "this model"}`);
  for (const part of partsOf(body, target)) {
    if (part.kind !== "functionCall" && part.kind !== "functionResponse") continue;
    report(part.pointer, `Function calling is not enabled for ${target.model ?? "this model"}`);
    return;
  }
};
