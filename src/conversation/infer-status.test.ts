import { expect, it } from "vitest";
import { inferStatus, outcomeFromRecorded } from "./infer-status.ts";

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

it.each([
  [{ isComplete: false }, undefined],
  [{ result: "ok" }, { status: "complete", content: [{ type: "text", text: "ok" }] }],
  [{ result: { n: 1 } }, { status: "complete", content: [{ type: "structured", value: { n: 1 } }] }],
  [
    { isComplete: false, result: "half" },
    { status: "interrupted", content: [{ type: "text", text: "half" }] },
  ],
  [
    { error: new Error("boom"), result: "half" },
    {
      status: "error",
      content: [
        { type: "text", text: "boom" },
        { type: "text", text: "half" },
      ],
    },
  ],
])("takes %j over as %j", (marks, outcome) => {
  expect(outcomeFromRecorded(marks)).toEqual(outcome);
});
