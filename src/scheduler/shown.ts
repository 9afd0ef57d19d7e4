import type { JsonObject, JsonValue } from "../conversation/json.ts";
import { plain } from "../policy/plain.ts";
import type { Display } from "../tools/tool.ts";

/** One line that is safe to show. */
export const shownLine = (text: string): string => plain(text, "line");

/** A value whose texts are safe to show, with nothing out of sight. */
export const shownObject = (value: JsonObject): JsonObject =>
  withTexts(value, (text) => plain(text, "visible"), shownLine);

/** The same value with every text in it changed, and every name. */
export const withTexts = (value: JsonObject, change: Change, rename: Change = change): JsonObject => {
  const changed = (item: JsonValue): JsonValue => {
    if (typeof item === "string") return change(item);
    if (Array.isArray(item)) return item.map(changed);
    return typeof item === "object" && item !== null ? withTexts(item as JsonObject, change, rename) : item;
  };
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [rename(key), changed(item)]));
};

type Change = (text: string) => string;

/**
 * A display that is safe to show, without secrets. The two versions of a file stay as they are; the patch between
 * them is what is shown.
 */
export const shownDisplay = (display: Display, redact: Change): Display => {
  const line = (text: string): string => redact(shownLine(text));
  switch (display.type) {
    case "text":
      return { type: "text", text: redact(plain(display.text)) };
    case "diff":
      return { ...display, path: line(display.path), patch: redact(plain(display.patch, "visible")) };
    case "listing":
      return { type: "listing", title: line(display.title), lines: display.lines.map(line) };
  }
};
