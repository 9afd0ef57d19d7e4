import { destinationOf, wireIds } from "../../providers/find.ts";
import { convertRequest, inferWire, renderRequest } from "../../providers/request.ts";
import { lint } from "../../rules/lint.ts";
import type { RuleTarget } from "../../rules/rule.ts";
import { parseConversationFile } from "../requests/conversation-file.ts";
import { UserError } from "../user-error.ts";

type ServedToolArguments = Readonly<Record<string, unknown>>;

/** A tool Parley offers to other agents. */
type ServedTool = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: object;
  readonly annotations: object;
  readonly run: (given: ServedToolArguments) => Promise<object>;
};

const annotations = { readOnlyHint: true, openWorldHint: false };
const model = { type: "string", description: "PROVIDER/MODEL, or a provider alone for its default model" };
const body = { type: "object", description: "the request body" };
const wire = { type: "string", enum: wireIds, description: "the API it was written for; needless when obvious" };

/** What Parley does to transcripts, as tools. They read their arguments and touch nothing else. */
export const servedTools: readonly ServedTool[] = [
  {
    name: "render",
    title: "Render a conversation",
    description:
      "Turns a saved Parley conversation, in whatever state, into a request body the named model's API accepts.",
    inputSchema: schema({ conversation: { type: "object", description: "the saved conversation" }, for: model }, [
      "conversation",
      "for",
    ]),
    annotations,
    run: async (given) => {
      const { body: rendered, report } = renderRequest(
        parseConversationFile(given["conversation"]),
        requireString(given, "for"),
        stubOptions,
      );
      return { body: rendered, report };
    },
  },
  {
    name: "convert",
    title: "Convert or heal a request body",
    description:
      "Turns a request body of one LLM API, however broken, into a valid one for another model, or for the same one: calls without results, results without calls, wrong order, foreign ids.",
    inputSchema: schema({ body, from: wire, for: model }, ["body", "for"]),
    annotations,
    run: async (given) => {
      const from = given["from"] === undefined ? inferWire(given["body"]) : requireString(given, "from");
      if (from === undefined)
        throw new UserError(`It is not obvious which API this body was written for. Say so in "from".`);
      const { body: converted, report } = convertRequest(given["body"], from, requireString(given, "for"), stubOptions);
      return { body: converted, report };
    },
  },
  {
    name: "lint",
    title: "Check a request body",
    description:
      "Lists what the API would refuse in a request body: where, which rule, and what the API does about it.",
    inputSchema: schema({ body, wire, for: model }, ["body"]),
    annotations,
    run: async (given) => ({ findings: lint(requireObject(given, "body"), ruleTargetFrom(given)) }),
  },
];

function schema(properties: object, required: readonly string[]): object {
  return { type: "object", properties, required };
}

const stubOptions = { policy: { unsupportedMedia: "stub" } } as const;

const ruleTargetFrom = (given: ServedToolArguments): RuleTarget => {
  const named = given["for"] === undefined ? undefined : destinationOf(requireString(given, "for"));
  const spoken = given["wire"] ?? named?.wire.id ?? inferWire(given["body"]);
  const known = wireIds.find((id) => id === spoken);
  if (known === undefined)
    throw new UserError(`It is not obvious which API this body is written for. Say so in "wire".`);
  return named === undefined
    ? { wire: known }
    : { wire: known, provider: named.target.provider, model: named.target.model };
};

const requireString = (given: ServedToolArguments, name: string): string => {
  const value = given[name];
  if (typeof value !== "string") throw new UserError(`"${name}" must be a text.`);
  return value;
};

const requireObject = (given: ServedToolArguments, name: string): object => {
  const value = given[name];
  if (typeof value !== "object" || value === null) throw new UserError(`"${name}" must be an object.`);
  return value;
};
