import type { RemoteAgentSource } from "./definition.ts";

/** The variables of the environment that a file of a project or plugin sends to its agent. */
export const namedVariables = ({ isOwn, auth }: RemoteAgentSource): readonly string[] =>
  isOwn ? [] : (auth?.secrets ?? []).flatMap((secret) => ("variable" in secret ? [secret.variable] : []));
