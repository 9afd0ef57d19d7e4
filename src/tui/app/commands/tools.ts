import { cut, span } from "../../text/line.ts";
import type { Desk } from "../command.ts";

/** `/tools`: what the model may use. */
export const tools = (_: string, { opened, print, width }: Desk): void => {
  const offered = opened().agent.conversation().tools ?? [];
  print([
    ...offered.map(({ name, description = "" }) =>
      cut([span(name.padEnd(24), { tone: "accent" }), span(description.split("\n")[0] ?? "")], width()),
    ),
    [],
  ]);
};
