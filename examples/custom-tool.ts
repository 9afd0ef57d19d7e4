/*
 * Gives the model a tool of the program. Its input is checked against the
 * schema, and typed; what it returns is text, a value, a file, or a list.
 */
import { openAgent } from "parley-agent/agent";
import { defineTool, ToolFailure } from "parley-agent/tools";
import { z } from "zod";

const stock = new Map([["tea", 12]]);

const checkStock = defineTool({
  name: "check_stock",
  description: "Returns how many of an item are in stock.",
  // What it does to the outside: "read" runs without asking; "write", "execute" and "network" need approval.
  access: "read",
  input: z.object({ item: z.string().describe("The item, in lower case") }),
  run: ({ item }) => {
    const count = stock.get(item);
    // The message of a failure is for the model.
    if (count === undefined) throw new ToolFailure("execution_failed", `There is no item "${item}".`);
    return { item, count };
  },
});

const { agent, close } = await openAgent({
  folder: ".",
  model: "offline",
  system: "You answer questions about our shop.",
  tools: [checkStock],
  // None of the built-in tools: no files, no commands.
  builtinTools: [],
});
for (const item of ["tea", "gold"])
  for await (const event of agent.send(`call check_stock with {"item": "${item}"}`))
    if (event.type === "call-completed") console.log(JSON.stringify(event.finished.outcome));
await close();
