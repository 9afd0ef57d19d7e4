import { describe, expect, it } from "vitest";
import { CommandLedger, type ReceivedCommand } from "./command-ledger.ts";

const commands: readonly ReceivedCommand[] = [
  { id: 1, command: { type: "user", parts: [{ type: "text", text: "Hello" }] } },
  { id: 2, command: { type: "cancel" } },
];

describe("the commands of a session", () => {
  it("are new once, also where the inbox was read before one was taken", () => {
    const ledger = new CommandLedger();
    expect(ledger.add(commands)).toEqual(commands);
    expect(ledger.add(commands)).toEqual([]);
    ledger.onTaken([1]);
    expect([ledger.add(commands), ledger.open()]).toEqual([[], [commands[1]]]);
  });
});
