import type { JsonObject, JsonValue } from "../conversation/index.ts";
import { plain } from "../policy/plain.ts";
import type { Display } from "../tools/tool.ts";

/** One line that is safe to show. */
export const shownLine = (text: string): string => plain(text, "line");

/** A value whose texts are safe to show, with nothing out of sight. */
export const shownObject = (value: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(value).map(([key, item]) => [shownLine(key), shownValue(item)]));

const shownValue = (value: JsonValue): JsonValue => {
  if (typeof value === "string") return plain(value, "visible");
  if (Array.isArray(value)) return value.map(shownValue);
  return typeof value === "object" && value !== null ? shownObject(value as JsonObject) : value;
};

/** A display that is safe to show. The two versions of a file stay as they are; the patch between them is what is shown. */
export const shownDisplay = (display: Display): Display => {
  switch (display.type) {
    case "text":
      return { type: "text", text: plain(display.text) };
    case "diff":
      return { ...display, path: shownLine(display.path), patch: plain(display.patch, "visible") };
    case "listing":
      return { type: "listing", title: shownLine(display.title), lines: display.lines.map(shownLine) };
  }
};
