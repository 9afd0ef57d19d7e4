import * as z from "zod";
import { parsePattern, type Script } from "./script.ts";

/** An invalid script. The message has one line for each problem: the path and what is expected there. */
export class ScriptFormatError extends Error {}

/** Validates a script from parsed JSON. Throws a `ScriptFormatError`. */
export const parseScript = (value: unknown): Script => {
  const parsed = scriptShape.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new ScriptFormatError(
    parsed.error.issues.map(({ path, message }) => `${formatPath(path)}: ${message}`).join("\n"),
  );
};

const formatPath = (path: readonly PropertyKey[]): string =>
  path.length === 0
    ? "the script"
    : path
        .map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`))
        .join("")
        .replace(/^\./, "");

const textPattern = z.string().refine((text) => isPattern(text), "expected text to find, or a valid /pattern/flags");

const isPattern = (text: string): boolean => {
  try {
    parsePattern(text);
    return true;
  } catch {
    return false;
  }
};

const finishShape = z.enum(["stop", "length", "filtered", "refused", "paused", "malformed", "context"]);
const callShape = z.strictObject({ tool: z.string().min(1), input: z.unknown() });

const partShape = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("think"), text: z.string(), redacted: z.exactOptional(z.literal(true)) }),
  z.strictObject({ type: z.literal("say"), text: z.string() }),
  z.strictObject({ type: z.literal("call"), tool: z.string().min(1), input: z.unknown() }),
  z.strictObject({ type: z.literal("file"), mimeType: z.string(), data: z.base64() }),
  z.strictObject({
    type: z.literal("cite"),
    text: z.string(),
    query: z.exactOptional(z.string()),
    sources: z.array(z.strictObject({ title: z.string(), uri: z.string() })),
  }),
]);

const replyShape = z.strictObject({
  think: z.exactOptional(z.string()),
  say: z.exactOptional(z.string()),
  call: z.exactOptional(
    z.preprocess((call) => (Array.isArray(call) || call === undefined ? call : [call]), z.array(callShape)),
  ),
  parts: z.exactOptional(z.array(partShape)),
  finish: z.exactOptional(finishShape),
  error: z.exactOptional(z.strictObject({ status: z.int().min(400).max(599), message: z.string() })),
});

const ruleShape = z.strictObject({
  prompt: z.exactOptional(textPattern),
  system: z.exactOptional(textPattern),
  tool: z.exactOptional(z.string()),
  model: z.exactOptional(textPattern),
  replies: z.array(replyShape).min(1),
});

const scriptShape = z.strictObject({ rules: z.array(ruleShape), otherwise: z.exactOptional(replyShape) });
