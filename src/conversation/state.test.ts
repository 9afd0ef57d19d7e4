import { expect, it } from "vitest";
import { inferStatus } from "./state.ts";

it.each([
  [{ result: "x" }, "complete"],
  [{ result: "" }, "complete"],
  [{ result: 0, isComplete: true }, "complete"],
  [{ result: "x", isComplete: false }, "interrupted"],
  [{ isComplete: false }, "pending"],
  [{}, "pending"],
  [{ result: null }, "pending"],
  [{ isComplete: true }, "complete"],
  [{ error: "boom" }, "error"],
  [{ error: "boom", result: "half", isComplete: false }, "error"],
  [{ error: null, result: "x" }, "complete"],
  [{ error: "", result: "x" }, "complete"],
] as const)("reads %j as %s", (marks, status) => {
  expect(inferStatus(marks)).toBe(status);
});
