import type { ChildProcess } from "node:child_process";
import { EventEmitter } from "node:events";
import { Socket } from "node:net";
import { expect, it } from "vitest";
import { readOutput } from "./output.ts";

it("ends when the last chunk arrives after the exit while another process holds the pipe", async () => {
  const [stdout, stderr] = [new Socket(), new Socket()];
  const child = Object.assign(new EventEmitter(), { stdout, stderr });
  const { output, exited } = readOutput(child as unknown as ChildProcess);
  const pieces: string[] = [];
  const reading = (async () => {
    for await (const { bytes } of output) pieces.push(Buffer.from(bytes).toString());
  })();
  await new Promise((resolve) => setImmediate(resolve));
  child.emit("exit", 4, null);
  await new Promise((resolve) => setImmediate(resolve));
  stdout.emit("data", Buffer.from("late"));
  await reading;

  expect(pieces).toEqual(["late"]);
  expect(await exited).toEqual({ code: 4, signal: undefined });
  stdout.destroy();
  stderr.destroy();
}, 5000);
