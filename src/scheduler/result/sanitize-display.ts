import type { JsonObject, JsonValue } from "../../conversation/json.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import type { ToolDisplay } from "../../tools/tool.ts";

/** One line that is safe to show. */
export const sanitizeLine = (text: string): string => sanitizeForTerminal(text, "line");

/** A value whose texts are safe to show, with nothing out of sight. */
export const sanitizeObject = (value: JsonObject): JsonObject =>
  mapTexts(value, (text) => sanitizeForTerminal(text, "visible"), sanitizeLine);

/** The same value with every text in it changed, and every name. */
export const mapTexts = (value: JsonObject, change: ChangeText, rename: ChangeText = change): JsonObject => {
  const changed = (item: JsonValue): JsonValue => {
    if (typeof item === "string") return change(item);
    if (Array.isArray(item)) return item.map(changed);
    return typeof item === "object" && item !== null ? mapTexts(item as JsonObject, change, rename) : item;
  };
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [rename(key), changed(item)]));
};

type ChangeText = (text: string) => string;

/**
 * A display that is safe to show, without secrets. The two versions of a file stay as they are; the patch between
 * them is what is shown.
 */
export const sanitizeDisplay = (display: ToolDisplay, redact: ChangeText): ToolDisplay => {
  const line = (text: string): string => redact(sanitizeLine(text));
  switch (display.type) {
    case "text":
      return { type: "text", text: redact(sanitizeForTerminal(display.text)) };
    case "diff":
      return { ...display, path: line(display.path), patch: redact(sanitizeForTerminal(display.patch, "visible")) };
    case "listing":
      return { type: "listing", title: line(display.title), lines: display.lines.map(line) };
  }
};
