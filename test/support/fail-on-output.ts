import { afterAll, afterEach, beforeAll } from "vitest";

/*
 * Fails a test that prints. What a program under test prints, a test captures and compares; what remains would only
 * hide the output that matters.
 */

let output = "";

const record = (text: unknown): boolean => {
  output += String(text);
  return true;
};

const restore: (() => void)[] = [];

beforeAll(() => {
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream);
    stream.write = record;
    restore.push(() => (stream.write = write));
  }
  for (const name of ["debug", "error", "info", "log", "warn"] as const) {
    const method = console[name];
    console[name] = (...values) => record(`${values.map(String).join(" ")}\n`);
    restore.push(() => (console[name] = method));
  }
});

const check = (): void => {
  const printed = output;
  output = "";
  if (printed !== "") throw new Error(`Tests print nothing, but this was printed:\n${printed}`);
};

afterEach(check);

afterAll(() => {
  for (const step of restore.splice(0)) step();
  check();
});
