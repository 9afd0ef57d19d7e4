import { destinationOf, wireIds } from "../../providers/find.ts";
import { convertRequest, inferWire, renderRequest } from "../../providers/request.ts";
import { lint } from "../../rules/lint.ts";
import type { RuleTarget } from "../../rules/rule.ts";
import { parseConversationFile } from "../requests/conversation-file.ts";
import { UserError } from "../user-error.ts";

type ServedToolArguments = Readonly<Record<string, unknown>>;

/** A tool served to other agents. */
type ServedTool = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: object;
  readonly annotations: object;
  readonly run: (args: ServedToolArguments) => Promise<object>;
};

const annotations = { readOnlyHint: true, openWorldHint: false };
const model = { type: "string", description: "PROVIDER/MODEL, or a provider alone for its default model" };
const body = { type: "object", description: "Request body" };
const wire = { type: "string", enum: wireIds, description: "API the body was written for; default: detected" };

/** The tools of `parley mcp serve`. They have no side effects: they read only their arguments. */
export const servedTools: readonly ServedTool[] = [
  {
    name: "render",
    title: "Render a conversation",
    description:
      "Renders a saved Parley conversation, even an incomplete one, as a request body the named model's API accepts.",
    inputSchema: schema({ conversation: { type: "object", description: "Saved conversation" }, for: model }, [
      "conversation",
      "for",
    ]),
    annotations,
    run: async (args) => {
      const { body: rendered, report } = renderRequest(
        parseConversationFile(args["conversation"]),
        requireString(args, "for"),
        stubOptions,
      );
      return { body: rendered, report };
    },
  },
  {
    name: "convert",
    title: "Convert or repair a request body",
    description:
      "Converts a request body of one LLM API to a valid one for another model, or repairs it for the same one: calls without results, results without calls, wrong order, foreign ids.",
    inputSchema: schema({ body, from: wire, for: model }, ["body", "for"]),
    annotations,
    run: async (args) => {
      const from = args["from"] === undefined ? inferWire(args["body"]) : requireString(args, "from");
      if (from === undefined) throw new UserError(`Cannot detect the API of this body. Set "from".`);
      const { body: converted, report } = convertRequest(args["body"], from, requireString(args, "for"), stubOptions);
      return { body: converted, report };
    },
  },
  {
    name: "lint",
    title: "Check a request body",
    description: "Lists what the API would reject in a request body: location, rule, message, and how the API reacts.",
    inputSchema: schema({ body, wire, for: model }, ["body"]),
    annotations,
    run: async (args) => ({ findings: lint(requireObject(args, "body"), ruleTargetFrom(args)) }),
  },
];

function schema(properties: object, required: readonly string[]): object {
  return { type: "object", properties, required };
}

const stubOptions = { policy: { unsupportedMedia: "stub" } } as const;

const ruleTargetFrom = (args: ServedToolArguments): RuleTarget => {
  const named = args["for"] === undefined ? undefined : destinationOf(requireString(args, "for"));
  const spoken = args["wire"] ?? named?.wire.id ?? inferWire(args["body"]);
  const known = wireIds.find((id) => id === spoken);
  if (known === undefined) throw new UserError(`Cannot detect the API of this body. Set "wire".`);
  return named === undefined
    ? { wire: known }
    : { wire: known, provider: named.target.provider, model: named.target.model };
};

const requireString = (args: ServedToolArguments, name: string): string => {
  const value = args[name];
  if (typeof value !== "string") throw new UserError(`"${name}" must be a string.`);
  return value;
};

const requireObject = (args: ServedToolArguments, name: string): object => {
  const value = args[name];
  if (typeof value !== "object" || value === null) throw new UserError(`"${name}" must be an object.`);
  return value;
};
