import type { AgentSession } from "../agent/open-agent.ts";
import type { SessionRecord } from "../session/log/record.ts";
import type { SessionCommand } from "./service.ts";

/** Whether a command starts, continues or answers a turn, so that a later cancel takes it back. */
export const isTurnCommand = ({ type }: SessionCommand): boolean =>
  type === "user" || type === "steer" || type === "decide";

/** The record that ends a turn whose process ended before it did. */
export const cancelledTurn = (open: AgentSession): Extract<SessionRecord, { kind: "turn" }> => ({
  kind: "turn",
  number: open.agent.conversation().entries.filter(({ type }) => type === "user").length,
  end: { type: "cancelled" },
});
