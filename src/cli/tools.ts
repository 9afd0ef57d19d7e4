import { builtins } from "../tools/all.ts";
import { declarationOf } from "../tools/declare.ts";
import type { AnyTool } from "../tools/tool.ts";
import type { Run } from "./commands.ts";
import { Failure } from "./failure.ts";
import { wrapped } from "./table.ts";

/** `parley tools`: what a model may do, with what arguments, and what that touches. */
export const tools: Run = async (given) => {
  const [name] = given.words;
  const listed = name === undefined ? builtins : builtins.filter((tool) => tool.name === name);
  if (name !== undefined && listed.length === 0) throw await unknownTool(name);
  const described = await Promise.all(listed.map(describe));
  const text = given.has("json")
    ? JSON.stringify({ tools: described.map(({ tool, parameters }) => jsonOf(tool, parameters)) }, null, 2)
    : described.map(printed).join("\n\n");
  process.stdout.write(`${text}\n`);
  return 0;
};

type Parameters = { readonly [key: string]: unknown };
type Described = { readonly tool: AnyTool; readonly parameters: Parameters };

const describe = async (tool: AnyTool): Promise<Described> => ({
  tool,
  parameters: (await declarationOf(tool)).parameters ?? {},
});

const jsonOf = ({ name, about, access, aliases = {} }: AnyTool, parameters: Parameters): unknown => ({
  name,
  description: about,
  access,
  parameters,
  aliases,
});

const printed = ({ tool, parameters }: Described): string => {
  const { name, access, about } = tool;
  return [`${name}  (${access})`, wrapped(`  ${about}`, "  "), ...fieldsOf(parameters).map(lineOf)].join("\n");
};

type Field = { readonly name: string; readonly type: string; readonly required: boolean; readonly about: string };

/** The parameters of a tool, as its schema has them. */
const fieldsOf = ({ properties, required }: Parameters): readonly Field[] =>
  Object.entries((properties ?? {}) as Readonly<Record<string, Parameters>>).map(([name, schema]) => ({
    name,
    type: typeof schema["type"] === "string" ? schema["type"] : "any",
    required: Array.isArray(required) && required.includes(name),
    about: typeof schema["description"] === "string" ? schema["description"] : "",
  }));

const lineOf = ({ name, type, required, about }: Field): string =>
  wrapped(`    ${name}: ${type}${required ? "" : ", optional"}. ${about}`, "      ");

const unknownTool = async (given: string): Promise<Failure> => {
  const { nearest } = await import("../conversation/nearest.ts");
  const names = builtins.map(({ name }) => name);
  const close = nearest(given, names);
  return new Failure(
    `There is no tool "${given}". ${close.length > 0 ? `Did you mean ${close.join(" or ")}?` : `There are ${names.join(", ")}.`}`,
  );
};
