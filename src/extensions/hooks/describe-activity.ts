import type { HookActivity } from "./hook-engine.ts";

/** Describes a run of a hook that the person should know of; undefined for one that did nothing special. */
export const describeHookActivity = ({
  event,
  source,
  hook,
  tool,
  status,
  message,
  changedInput,
}: HookActivity): string | undefined => {
  if (status === "done" && message === undefined && changedInput === undefined) return undefined;
  const subject = `Hook ${event}${tool === undefined ? "" : ` for ${tool}`} (${source}: ${shorten(hook)})`;
  const change = changedInput === true ? " changed the arguments" : "";
  const verb = status === "done" ? change : ` ${status}${change === "" ? "" : " and"}${change}`;
  return `${subject}${verb}${message === undefined ? "." : `: ${message}`}`;
};

const shorten = (text: string): string => {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length <= 60 ? line : `${line.slice(0, 59)}…`;
};
