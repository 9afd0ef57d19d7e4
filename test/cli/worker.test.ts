import { tmpdir } from "node:os";
import { expect, it } from "vitest";
import { runCommand } from "../support/run-command.ts";

const env = { PATH: "/nowhere", HOME: "/nowhere", PARLEY_HOME: "/nowhere" };

it("a worker does not start without a sandbox, unless an option allows it", async () => {
  const { code, err } = await runCommand(["worker", "--store", "postgres://parley@127.0.0.1:1/none"], {
    cwd: tmpdir(),
    env,
  });
  expect(code).toBe(1);
  expect(err).toContain("A worker needs a sandbox for commands of models.");
  expect(err).toContain("--no-sandbox");
});

it.each([
  [["--most", "0"], "--most must be a whole number from 1"],
  [[], "No database. Set PARLEY_STORE"],
])("a worker refuses wrong usage: %j", async (args, message) => {
  const { code, err } = await runCommand(["worker", ...args], { cwd: tmpdir(), env });
  expect(code).toBe(2);
  expect(err).toContain(message);
});

it("a worker says that the database cannot be reached", async () => {
  const args = ["worker", "--no-sandbox", "--store", "postgres://parley@127.0.0.1:1/none"];
  const { code, err } = await runCommand(args, { cwd: tmpdir(), env });
  expect(code).toBe(1);
  expect(err).toContain("Check that it runs and can be reached");
});
