import { expect, it } from "vitest";
import { nearestNames } from "./nearest-names.ts";

const tools = ["read_file", "read_many_files", "write_file", "web_fetch", "glob"];

it.each([
  ["ReadFile", ["read_file"]],
  ["read-file", ["read_file"]],
  ["raed_file", ["read_file"]],
  ["read", ["read_file", "read_many_files"]],
  ["globs", ["glob"]],
  ["launch_missiles", []],
  ["", []],
  ["?!", []],
  ["x".repeat(1000), []],
])("%s gets suggestions of similar names", (given, names) => {
  expect(nearestNames(given, tools)).toEqual(names);
});

it("names three at most, the nearest first", () => {
  expect(nearestNames("reads", ["road", "red", "reads", "ready", "write"])).toEqual(["reads", "ready", "road"]);
});

it("a name of one or two characters suggests only names that have one of them", () => {
  expect(nearestNames("3", ["up", "end", "3d"])).toEqual(["3d"]);
  expect(nearestNames("ls", ["up", "ps", "undo"])).toEqual(["ps"]);
});
