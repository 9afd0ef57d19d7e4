import { closeSync, openSync, readFileSync, writeSync } from "node:fs";

/**
 * Overwrites this process's `/proc/PID/environ`, which every program of the same user can read: API keys passed as
 * variables would stay in it as long as we run. `process.env` keeps its values. Does nothing where the system has no
 * such file, and never throws.
 */
export const clearProcEnviron = (): void => {
  if (process.platform !== "linux") return;
  try {
    const block = readFileSync("/proc/self/environ");
    const start = startOfBlock(readFileSync("/proc/self/stat", "latin1"));
    if (start === undefined || block.length === 0) return;
    const memory = openSync("/proc/self/mem", "r+");
    try {
      for (const { at, name, value } of parseEnviron(block)) {
        // Setting a variable moves it to the heap; only then may its original place be overwritten.
        process.env[name] = value.toString();
        block.fill(0, at, at + value.length);
      }
      writeSync(memory, block, 0, block.length, start);
    } finally {
      closeSync(memory);
    }
  } catch {
    // Not every system lets a process write to its own memory this way.
  }
};

type EnvironVariable = { readonly name: string; readonly value: Buffer; readonly at: number };

/** The variables of the block that can be set again unchanged. The loader keeps pointers to its own (LD_*). */
const parseEnviron = (block: Buffer): readonly EnvironVariable[] => {
  const found: EnvironVariable[] = [];
  for (let at = 0; at < block.length;) {
    const end = block.indexOf(0, at) === -1 ? block.length : block.indexOf(0, at);
    const equals = block.indexOf("=", at);
    const name = block.toString("utf8", at, equals);
    const value = block.subarray(equals + 1, end);
    const isSame = equals > at && equals < end && process.env[name] === value.toString();
    if (isSame && !name.startsWith("LD_") && Buffer.from(value.toString()).equals(value))
      found.push({ name, value: Buffer.from(value), at: equals + 1 });
    at = end + 1;
  }
  return found;
};

/** Field 50 of `/proc/self/stat`; the second field, in parentheses, may contain anything. */
const startOfBlock = (stat: string): number | undefined => {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const start = Number(fields[50 - 3]);
  return Number.isSafeInteger(start) && start > 0 ? start : undefined;
};
