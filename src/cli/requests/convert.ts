import { isObject } from "../../conversation/json.ts";
import { providers } from "../../providers/all.ts";
import { wireIds } from "../../providers/find.ts";
import { convertRequest, inferWire } from "../../providers/request.ts";
import { UnknownNameError } from "../../providers/unknown-name.ts";
import type { CommandHandler } from "../command.ts";
import { UserError } from "../user-error.ts";
import { describeValue, readJson } from "../json/read.ts";
import { printRequest, parseRequestArguments } from "./print-request.ts";

/** `parley convert`: converts a request body of one API to a valid one for another. */
export const convert: CommandHandler = async (args) => {
  const { to, options } = parseRequestArguments(args);
  const from = args.value("from");
  if (from !== undefined) checkSource(from);
  const body = await readJson(args.positionals[0]!);
  checkBody(body);
  const source = from ?? inferWire(body);
  if (source === undefined)
    throw new UserError(`Cannot detect the API of this body. Use --from with one of: ${wireIds.join(", ")}.`);
  return printRequest(args, () => convertRequest(body, source, to, options));
};

const checkSource = (from: string): void => {
  const [name = ""] = from.split("/", 1);
  const known = [...new Set([...wireIds, ...providers.map(({ id }) => id)])];
  if (!known.includes(name)) throw new UserError(new UnknownNameError("wire or provider", name, known).message);
};

/** Throws unless the body is an object with at least one field of a request, or a list of messages. */
const checkBody = (body: unknown): void => {
  if (isObject(body) && "entries" in body)
    throw new UserError("This is a saved conversation, not a request body. Use parley render.");
  if (Array.isArray(body) ? body.length === 0 || body.some(isObject) : isObject(body) && isRequest(body)) return;
  throw new UserError(
    isObject(body)
      ? "This is not a request body: it has no field of a request, such as messages, contents or input."
      : `This is ${describeValue(body)}, not a request body or a list of messages.`,
  );
};

const isRequest = (body: Record<string, unknown>): boolean => requestFields.some((field) => Object.hasOwn(body, field));

const requestFields = [
  "messages",
  "contents",
  "input",
  "request",
  "model",
  "modelId",
  "system",
  "systemInstruction",
  "system_instruction",
  "instructions",
  "tools",
  "toolConfig",
  "max_tokens",
  "generationConfig",
  "inferenceConfig",
];
