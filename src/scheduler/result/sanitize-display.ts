import type { JsonObject, JsonValue } from "../../conversation/json.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import type { ToolDisplay } from "../../tools/tool.ts";

/** Sanitizes a text for one line of a terminal. */
export const sanitizeLine = (text: string): string => sanitizeForTerminal(text, "line");

/** Sanitizes all texts of a value; invisible characters become visible. */
export const sanitizeObject = (value: JsonObject): JsonObject =>
  mapTexts(value, (text) => sanitizeForTerminal(text, "visible"), sanitizeLine);

/** A copy of a value with every text and every key changed. */
export const mapTexts = (value: JsonObject, change: ChangeText, rename: ChangeText = change): JsonObject => {
  const changed = (item: JsonValue): JsonValue => {
    if (typeof item === "string") return change(item);
    if (Array.isArray(item)) return item.map(changed);
    return typeof item === "object" && item !== null ? mapTexts(item as JsonObject, change, rename) : item;
  };
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [rename(key), changed(item)]));
};

type ChangeText = (text: string) => string;

/** Sanitizes and redacts a display. The two versions of a file stay raw; the patch between them is what is shown. */
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
