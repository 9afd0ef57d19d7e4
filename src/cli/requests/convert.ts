import { isObject } from "../../conversation/json.ts";
import { providers } from "../../providers/all.ts";
import { wireIds } from "../../providers/find.ts";
import { convertRequest, inferWire } from "../../providers/request.ts";
import { UnknownNameError } from "../../providers/unknown-name.ts";
import type { CommandHandler } from "../commands.ts";
import { UserError } from "../user-error.ts";
import { describeValue, readJson } from "../json/read.ts";
import { printRequest, parseRequestArguments } from "./print-request.ts";

/** `parley convert`: a request body of one API as a valid one for another. */
export const convert: CommandHandler = async (given) => {
  const { to, options } = parseRequestArguments(given);
  const from = given.value("from");
  if (from !== undefined) checkSource(from);
  const body = await readJson(given.positionals[0]!);
  checkBody(body);
  const source = from ?? inferWire(body);
  if (source === undefined)
    throw new UserError(
      `It is not obvious which API this body was written for. Say so with --from: ${wireIds.join(", ")}.`,
    );
  return printRequest(given, () => convertRequest(body, source, to, options));
};

const checkSource = (from: string): void => {
  const [name = ""] = from.split("/", 1);
  const known = [...new Set([...wireIds, ...providers.map(({ id }) => id)])];
  if (!known.includes(name)) throw new UserError(new UnknownNameError("wire or provider", name, known).message);
};

/** However broken a body may be, it is an object with something of a request in it, or a list of messages. */
const checkBody = (body: unknown): void => {
  if (isObject(body) && "entries" in body)
    throw new UserError("This is a saved conversation, not a request body. Use parley render.");
  if (Array.isArray(body) ? body.length === 0 || body.some(isObject) : isObject(body) && isRequest(body)) return;
  throw new UserError(
    isObject(body)
      ? "This is not a request body: it has nothing of a request, such as messages, contents or input."
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
